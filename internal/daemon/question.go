package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/rmctl/rmctl/remote"
)

// question is an encoded remote.Question.
type question struct {
	Host, Text []byte
	Secret     bool
}

// reply answers a question.
type reply struct {
	Text   []byte
	Failed *failure `json:",omitempty"`
}

// Ask asks the user behind the client: a link is a remote.Prompter. The error
// is ErrNobodyToAsk also when the client is gone.
func (l *link) Ask(ctx context.Context, q remote.Question) (string, error) {
	defer l.asking.Add(-1)
	if l.asking.Add(1) > mostQuestions {
		return "", fmt.Errorf("%w: %d questions are waiting for answers", remote.ErrNobodyToAsk, mostQuestions)
	}
	opened, err := l.open()
	if err != nil {
		return "", fmt.Errorf("%w: %w", remote.ErrNobodyToAsk, err)
	}
	defer opened.Close() // the client withdraws an unanswered prompt
	defer context.AfterFunc(ctx, func() { _ = opened.SetReadDeadline(time.Unix(1, 0)) })()
	var received reply
	err = json.NewEncoder(opened).Encode(question{packText(q.Host), packText(q.Text), q.Secret})
	if err == nil {
		err = newMessageDecoder(opened).decode(&received)
	}
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return "", fmt.Errorf("%w: %w", remote.ErrNobodyToAsk, err)
	}
	return string(received.Text), received.Failed.unpack()
}

// answerQuestions answers what the server asks until the link is closed. With a
// nil prompter there is nobody to ask.
func (l *link) answerQuestions(ctx context.Context, prompter remote.Prompter) {
	places := make(chan struct{}, mostQuestions)
	for {
		places <- struct{}{}
		opened, err := l.accept(ctx)
		if err != nil {
			return
		}
		l.work.Go(func() {
			defer func() { <-places }()
			defer opened.Close()
			var received question
			if newMessageDecoder(opened).decode(&received) == nil {
				// A server that is gone needs no answer.
				_ = json.NewEncoder(opened).Encode(l.reply(ctx, opened, prompter, received))
			}
		})
	}
}

// reply asks the user until the server closes the question's stream.
func (l *link) reply(ctx context.Context, opened io.Reader, prompter remote.Prompter, q question) reply {
	if prompter == nil {
		return reply{Failed: pack(remote.ErrNobodyToAsk)}
	}
	ctx, takeBack := context.WithCancel(ctx)
	l.work.Go(func() {
		defer takeBack()
		_, _ = io.Copy(io.Discard, opened) // nothing follows a question but its end
	})
	text, err := prompter.Ask(ctx, remote.Question{Host: string(q.Host), Text: string(q.Text), Secret: q.Secret})
	if err == nil && len(text) > longestText {
		text, err = "", errors.New("the answer is too long")
	}
	return reply{[]byte(text), pack(err)}
}
