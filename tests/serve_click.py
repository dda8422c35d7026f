"""serve_click.py BROWSER FOLDER ADDRESS [OPTION...]: uses the page of npgnn serve as a person does, with the mouse and the keyboard of a headless
Chromium: searches a node, clicks a neighbour in the drawing, then a suggestion in the list, and goes back. FOLDER is for its profile."""
import json
import os
import subprocess
import sys
import time

BROWSER, FOLDER, ADDRESS = sys.argv[1:4]
SECONDS = 60  # for anything to happen


class Browser:
    """Chromium on two pipes (the DevTools protocol): one JSON object per message, which a zero byte ends."""

    def __init__(self):
        commands, self.out = os.pipe()
        self.input, answers = os.pipe()

        def connect():
            os.dup2(commands, 13)  # out of the way of 3 and 4, which may be any of these
            os.dup2(answers, 14)
            os.dup2(13, 3)
            os.dup2(14, 4)

        self.process = subprocess.Popen(
            [BROWSER, "--headless", "--disable-gpu", "--window-size=1280,1000", "--remote-debugging-pipe", f"--user-data-dir={FOLDER}/clicks", *sys.argv[4:]],
            preexec_fn=connect, close_fds=False, stderr=subprocess.DEVNULL)
        os.close(commands)
        os.close(answers)
        self.rest, self.last, self.session = b"", 0, None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def call(self, method, **parameters):
        self.last += 1
        message = {"id": self.last, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.rest:
                more = os.read(self.input, 1 << 16)
                assert more, "the browser has ended"
                self.rest += more
            text, self.rest = self.rest.split(b"\0", 1)
            answer = json.loads(text)
            if answer.get("id") == self.last:  # the others are events
                assert "error" not in answer, answer
                return answer["result"]

    def value(self, expression):
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def wait(self, expression, wanted=True):
        end = time.monotonic() + SECONDS
        while self.value(expression) != wanted:
            assert time.monotonic() < end, f"{expression} is {self.value(expression)!r}, not {wanted!r}"
            time.sleep(0.05)

    def click(self, selector):
        """The middle of an element, wherever it is on the page."""
        x, y = self.value(f"""(() => {{
            const found = document.querySelector({json.dumps(selector)});
            found.scrollIntoView({{block: "center"}});
            const box = found.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];
        }})()""")
        for kind in "mousePressed", "mouseReleased":
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press_enter(self):
        for kind in "keyDown", "keyUp":
            self.call("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", windowsVirtualKeyCode=13, text="\r")


TITLE = 'document.getElementById("title").textContent'
SHOWN = 'document.querySelectorAll("#drawing path.l").length > 0 && document.querySelectorAll("#list li").length === 8'
browser = Browser()
try:
    browser.call("Page.navigate", url=ADDRESS)
    browser.wait('document.getElementById("about") !== null && document.getElementById("about").textContent.includes("nodes")')
    browser.click("#name")
    browser.call("Input.insertText", text="nump")
    browser.wait('[...document.querySelectorAll("#names option")].some(option => option.value === "numpy")')  # it offers names
    browser.call("Input.insertText", text="y")
    browser.press_enter()
    browser.wait(TITLE, "numpy")
    browser.wait(SHOWN)

    neighbour = browser.value('document.querySelector("#drawing a title").textContent')
    browser.click("#drawing a text")
    browser.wait(TITLE, neighbour)
    browser.wait(SHOWN)
    assert browser.value('document.getElementById("name").value') == neighbour
    links = browser.value('[...document.querySelectorAll("#drawing a title")].map(title => title.textContent)')
    assert "numpy" in links, links  # they are neighbours

    suggested = browser.value('document.querySelector("#list a").textContent')
    browser.click("#list a")
    browser.wait(TITLE, suggested)
    browser.value("history.back()")
    browser.wait(TITLE, neighbour)
    assert len({"numpy", neighbour, suggested}) == 3
    print(f"numpy, {neighbour}, {suggested}, and back")
finally:
    browser.process.terminate()
    browser.process.wait()
