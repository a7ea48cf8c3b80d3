"""Messages between the parts of an ensemble of rmctl. Python 3.6 or later, no dependencies.

    import coalloc
    coalloc.barrier()                      # only in parts with barrier = "program"
    with coalloc.Session() as session:
        for part in session.exchange(b"tcp://node17:4000"):
            print(part["label"], part["data"])

Several threads may share a session. Times are in seconds. A call that fails raises Error.
"""
import base64
import itertools
import json
import os
import queue
import subprocess
import threading

ABORTED, TIMEOUT, REFUSED, LOST = 10, 11, 12, 13


class Error(Exception):
    """A call failed. The attribute code is ABORTED, TIMEOUT, REFUSED, LOST or another exit code."""

    def __init__(self, text, code):
        super().__init__(text)
        self.code = code


def _command(*words):
    return [os.environ.get("COALLOC_RMCTL_NODE", "rmctl-node"), *words]


def barrier(fail=None, timeout=None):
    """Wait for the release of the ensemble; or vote no, with the reason in fail."""
    words = ["barrier"]
    if fail is not None:
        words += ["--fail=" + fail]
    if timeout is not None:
        words += ["--timeout", "%fs" % timeout]
    ended = subprocess.run(_command(*words), stderr=subprocess.PIPE)
    if ended.returncode != 0:
        raise Error(ended.stderr.decode(errors="replace").strip(), ended.returncode)


class Session:
    """The messages of this process. The attributes are rank, size, index, label and ensemble."""

    def __init__(self):
        self._process = subprocess.Popen(_command("session"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self._lock, self._writing, self._numbers, self._waiting = threading.Lock(), threading.Lock(), itertools.count(1), {}
        self._failure = None
        first = self._process.stdout.readline()
        if not first:
            text = self._process.communicate()[1].decode(errors="replace").strip()
            raise Error(text, self._process.returncode)
        self.__dict__.update(json.loads(first)["session"])
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        failure = Error("the session has ended", LOST)
        for line in self._process.stdout:
            answer = json.loads(line)
            if "id" not in answer:
                failure = Error(answer["error"], answer["code"])
                continue
            with self._lock:
                waiting = self._waiting.pop(answer["id"], None)
            if waiting is not None:
                waiting.put(answer)
        with self._lock:
            self._failure = failure
            left, self._waiting = self._waiting, {}
        for waiting in left.values():
            waiting.put({"error": str(failure), "code": failure.code})

    def _request(self, request, data=None, **fields):
        fields = {name: value for name, value in fields.items() if value is not None}
        if data is not None:
            fields["data"] = base64.b64encode(data).decode()
        waiting = queue.Queue()
        with self._lock:
            if self._failure is not None:
                raise self._failure
            number = next(self._numbers)
            self._waiting[number] = waiting
            line = json.dumps(dict(fields, id=number, request=request)) + "\n"
        with self._writing:
            try:
                self._process.stdin.write(line.encode())
                self._process.stdin.flush()
            except (OSError, ValueError):
                pass  # the reader reports why the session has ended
        answer = waiting.get()
        if "error" in answer:
            raise Error(answer["error"], answer["code"])
        return answer

    def structure(self):
        """Return the parts: joined, rank, own, others and world."""
        return self._request("structure")["structure"]

    def send(self, address, tag, data):
        """Send bytes to rank 0 of the part with an address. Only rank 0 may."""
        self._request("send", data, to=address, tag=tag)

    def send_to_rank(self, rank, tag, data):
        """Send bytes to another rank of this part."""
        self._request("send", data, toRank=rank, tag=tag)

    def receive(self, tag, address=None, rank=None, timeout=None):
        """Return the bytes of the next message with a tag; with address or rank, of that sender."""
        return self.receive_from(tag, address, rank, timeout)[1]

    def receive_from(self, tag, address=None, rank=None, timeout=None):
        """Return ("address" or "rank", its number) of the sender, and the bytes."""
        message = self._request("receive", tag=tag, **{"from": address, "fromRank": rank, "timeout": timeout})["message"]
        sender = ("address", message["from"]) if "from" in message else ("rank", message["fromRank"])
        return sender, base64.b64decode(message["data"] or "")

    def exchange(self, data=None, name=None, timeout=None):
        """Wait until rank 0 of each part has given bytes. Return the parts, each with its data."""
        parts = self._request("exchange", data, name=name, timeout=timeout)["parts"]
        return [dict(part, data=base64.b64decode(part["data"] or "")) for part in parts]

    def close(self):
        """End the session after the messages that were sent."""
        self._process.stdin.close()
        self._reader.join()
        self._process.stdout.close()
        self._process.stderr.close()
        self._process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
