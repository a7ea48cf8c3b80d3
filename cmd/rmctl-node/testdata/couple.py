"""Two parts that exchange messages with the module coalloc."""
import os
import threading

import coalloc

try:
    coalloc.Session()
    raise SystemExit("a session before the release")
except coalloc.Error as error:
    assert error.code == coalloc.REFUSED, error
try:
    coalloc.barrier(timeout=0.2)
    raise SystemExit("a barrier without the other part")
except coalloc.Error as error:
    assert error.code == coalloc.TIMEOUT, error
open(os.environ["MARK"], "w").close()
coalloc.barrier(timeout=120)

with coalloc.Session() as session:
    assert (session.rank, session.size) == (0, 1)
    structure = session.structure()
    parts = session.exchange(session.label.encode())
    assert [part["data"] for part in parts] == [b"part1", b"part2"], parts
    other = structure["others"][0]["address"]
    try:
        session.receive("never", timeout=0.1)
        raise SystemExit("a message that nobody sent")
    except coalloc.Error as error:
        assert error.code == coalloc.TIMEOUT, error
    if session.index == 0:
        received = []
        waiting = threading.Thread(target=lambda: received.append(session.receive("answer", address=other)))
        waiting.start()
        session.send(other, "question", b"ping")
        waiting.join()
        print(received[0].decode())
        session.send(other, "long", b"x" * (1 << 20))
    else:
        sender, question = session.receive_from("question")
        assert sender == ("address", other)
        session.send(other, "answer", b"pong for " + question)
        print("a message of", len(session.receive("long", timeout=60)), "bytes")
    try:
        session.send_to_rank(3, "nobody", b"")
        raise SystemExit("a rank that the part does not have")
    except coalloc.Error as error:
        assert error.code == coalloc.REFUSED, error
