package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/go-rod/rod"
	"github.com/go-rod/rod/lib/proto"
	"github.com/pquerna/otp/totp"
)

// axe is axe-core as published; it is put into the page over the browser's own
// protocol, past the content policy, which stays as it is.
//
//go:embed testdata/axe.min.js
var axe string

// A look is a way to see a page.
type look struct {
	theme string // prefers-color-scheme
	width int    // of the window, in CSS pixels
}

func (l look) String() string { return fmt.Sprintf("%s-%d", l.theme, l.width) }

var looks = []look{{"light", 1280}, {"dark", 1280}, {"dark", 320}, {"light", 320}}

// looksAs gives the window a size and a theme. Nothing moves: a colour that is
// half-way to another would be measured.
func (b *browser) looksAs(l look) {
	b.t.Helper()
	height := 900
	if l.width < 700 {
		height = 640
	}
	b.no(b.page.SetViewport(&proto.EmulationSetDeviceMetricsOverride{Width: l.width, Height: height, DeviceScaleFactor: 1}))
	b.no(proto.EmulationSetEmulatedMedia{Features: []*proto.EmulationMediaFeature{
		{Name: "prefers-color-scheme", Value: l.theme}, {Name: "prefers-reduced-motion", Value: "reduce"}}}.Call(b.page))
}

// findFaults runs axe over the page, and says where it is wider than its window, where
// two texts run together without a space, and where a plain word is broken in two.
const findFaults = `async () => {
	const found = [];
	const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	const at = (node, from, to) => {
		const r = document.createRange();
		r.setStart(node, from);
		r.setEnd(node, to);
		return [...r.getClientRects()].filter((box) => box.width > 0);
	};
	for (let node, last = null; (node = texts.nextNode()); ) {
		const text = node.data, e = node.parentElement;
		if (e.closest(".unseen, .skip, [hidden], select, textarea, script, svg") || !e.checkVisibility() || text === "") continue;
		if (last && /[\p{L}\p{N}]$/u.test(last.data) && /^[\p{L}\p{N}]/u.test(text)) {
			const [a] = at(last, last.data.length - 1, last.data.length), [b] = at(node, 0, 1);
			if (a && b && Math.abs(a.bottom - b.bottom) < a.height / 2 && b.left - a.right < 1.5 && b.left - a.left > -1)
				found.push("run together: " + last.data.slice(-20) + "|" + text.slice(0, 20));
		}
		last = node;
		if (e.closest(".mono, code")) continue;
		for (const word of text.matchAll(/(?<=^|\s)([a-z]{2,14}|[가-힣]{2,8})(?=$|[\s.,:;])/g))
			if (new Set(at(node, word.index, word.index + word[0].length).map((box) => Math.round(box.top))).size > 1)
				found.push("broken in two: " + word[0]);
	}
	const root = document.scrollingElement;
	if (root.scrollWidth > root.clientWidth) {
		const out = [...document.querySelectorAll("body *")].filter((e) => {
			if (e.closest(".scroll, .unseen, .skip, [hidden]") && !e.matches(".scroll")) return false;
			return e.getBoundingClientRect().right > root.clientWidth + 0.5;
		}).slice(-3).map((e) => e.outerHTML.slice(0, 160));
		found.push("the page is " + root.scrollWidth + " wide: " + out.join(" … "));
	}
	const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"];
	const said = await axe.run(document, { runOnly: { type: "tag", values: tags }, resultTypes: ["violations"] });
	said.violations.forEach((v) => v.nodes.slice(0, 4).forEach((n) =>
		found.push(v.id + " at " + n.target.join(" ") + ": " + n.failureSummary + " " + n.html.slice(0, 160))));
	return JSON.stringify(found);
}`

// faults gives what is wrong with the page as it is seen now.
func (b *browser) faults() (found []string) {
	b.t.Helper()
	got, err := b.page.Eval(findFaults)
	b.no(err)
	b.no(json.Unmarshal([]byte(got.Value.Str()), &found))
	return found
}

// heard is what the browser logged: errors, exceptions, and what the
// content policy kept back.
type heard struct {
	t    *testing.T
	mu   sync.Mutex
	said []string
	mark string
	n    int
}

// listen begins to note what the tab says, and has axe in every page that it
// loads from now on.
func listen(t *testing.T, page *rod.Page) *heard {
	t.Helper()
	h := &heard{t: t}
	for _, js := range []string{axe, `document.addEventListener("securitypolicyviolation", (e) =>
		console.error("policy: " + e.violatedDirective + " " + e.blockedURI));`} {
		if _, err := page.EvalOnNewDocument(js); err != nil {
			t.Fatal(err)
		}
	}
	go page.EachEvent(
		func(e *proto.LogEntryAdded) {
			if e.Entry.Level == proto.LogLogEntryLevelError {
				h.note(e.Entry.Text + " " + e.Entry.URL)
			}
		},
		func(e *proto.RuntimeExceptionThrown) {
			h.note(e.ExceptionDetails.Text + " " + e.ExceptionDetails.Exception.Description)
		},
		func(e *proto.RuntimeConsoleAPICalled) {
			text := ""
			for _, a := range e.Args {
				text += a.Value.String() + a.Description
			}
			switch e.Type {
			case proto.RuntimeConsoleAPICalledTypeError, proto.RuntimeConsoleAPICalledTypeAssert:
				h.note(text)
			case proto.RuntimeConsoleAPICalledTypeDebug:
				h.mu.Lock()
				h.mark = text
				h.mu.Unlock()
			}
		})()
	return h
}

func (h *heard) note(text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.said = append(h.said, text)
}

func (h *heard) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.said = nil
}

// until gives what was said up to now: the tab says a word, and what came before
// it has come.
func (h *heard) until(b *browser) []string {
	b.t.Helper()
	h.n++
	word := "mark " + strconv.Itoa(h.n)
	if _, err := b.page.Eval(`word => console.debug(word)`, word); err != nil {
		b.t.Fatal(err)
	}
	b.until("the browser has said all", func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.mark == word
	})
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.said
}

// envPictures names a folder that every scene is drawn to in every look, for
// somebody who wants to see them.
const envPictures = "BONGSU_TEST_PICTURES"

// pictureLimit is how large a picture in docs may be, in bytes.
const pictureLimit = 150_000

// keeps draws what the tab shows: for whoever asked for all pictures, and the
// light ones that are part of docs where the documents are written anew.
func (b *browser) keeps(name string, l look, draws string) {
	b.t.Helper()
	if dir := os.Getenv(envPictures); dir != "" {
		b.draws(filepath.Join(dir, name+"-"+l.String()+".png"), true)
	}
	if os.Getenv(envDocs) == "" || draws == "" || l.theme != "light" {
		return
	}
	file := filepath.Join("docs", draws+".png")
	if l.width < 700 {
		if draws != narrowPicture {
			return
		}
		file = filepath.Join("docs", draws+"-narrow.png")
	}
	if n := b.draws(file, false); n > pictureLimit {
		b.t.Errorf("%s has %d bytes, more than %d", file, n, pictureLimit)
	}
}

// narrowPicture is the picture that docs have for a narrow window too.
const narrowPicture = "notice"

// draws writes what the tab shows to a file, the whole page or the window.
func (b *browser) draws(file string, whole bool) (size int) {
	b.t.Helper()
	b.eval("() => { scrollTo(0, 0); document.activeElement?.blur() }")
	b.hidesPlaces()
	png, err := b.page.Screenshot(whole, &proto.PageCaptureScreenshot{Format: proto.PageCaptureScreenshotFormatPng})
	b.no(err)
	b.no(os.WriteFile(file, png, 0o644))
	return len(png)
}

// codeNow gives the code of a second factor at this moment.
func (b *browser) codeNow(secret string) string {
	b.t.Helper()
	code, err := totp.GenerateCode(secret, time.Now())
	b.no(err)
	return code
}
