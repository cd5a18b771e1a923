"""Everyday traps of servers and test suites."""

from __future__ import annotations

import socket
import subprocess

from examples.demo.task import Approach, Place, Task, answers, py, sh


def _site(place: Place) -> None:
    taken = place.resources.enter_context(socket.socket())
    taken.bind(("127.0.0.1", 0))
    taken.listen()
    place.write("port.txt", str(taken.getsockname()[1]))
    place.write("site/index.html", ("hello", "welcome")[place.variant])


_SERVE = (
    "import functools, http.server, threading, time, urllib.request\n"
    "class Quiet(http.server.SimpleHTTPRequestHandler):\n"
    "    def log_message(self, *args): pass\n"
    "{before}\n"
    "server = http.server.HTTPServer(('127.0.0.1', {port}), functools.partial(Quiet, directory='site'))\n"
    "threading.Thread(target=server.serve_forever, daemon=True).start()\n"
    "print(urllib.request.urlopen(f'http://127.0.0.1:{{server.server_port}}/index.html').read().decode())\n"
)

SERVER = Task(
    name="web-server",
    words=(
        "Start a web server for the folder site, usually on the port in port.txt, and fetch index.html",
        "Serve site over HTTP (port.txt has the customary port) and download its index.html",
    ),
    approaches=(
        Approach(
            "bind the port that the file names", py(_SERVE.format(before="", port="int(open('port.txt').read())"))
        ),
        Approach(
            "wait a moment, then bind the port that the file names",
            py(_SERVE.format(before="time.sleep(0.2)", port="int(open('port.txt').read())")),
        ),
        Approach("let the system choose a free one", py(_SERVE.format(before="", port="0"))),
    ),
    prepare=_site,
    check=answers("hello", "welcome"),
)

_TESTS = """import unittest

{shared} = []


class {Shared}Test(unittest.TestCase):
    def test_a_is_empty_at_first(self):
        self.assertEqual({shared}, [])

    def test_b_holds_what_was_added(self):
        {shared}.append("tea")
        self.assertEqual({shared}, ["tea"])
"""


def _test_file(place: Place) -> None:
    shared = ("basket", "inbox")[place.variant]
    place.write(f"test_{shared}.py", _TESTS.format(shared=shared, Shared=shared.title()))


_REVERSED = (
    "import glob, sys, unittest\n"
    "sys.path.insert(0, '.')\n"
    "names = unittest.TestLoader()\n"
    "names.sortTestMethodsUsing = lambda a, b: (a < b) - (a > b)\n"
    "tests = names.loadTestsFromName(glob.glob('test_*.py')[0][:-3])\n"
    "result = unittest.TextTestRunner(stream=open('log', 'w')).run(tests)\n"
    "sys.exit(0 if result.wasSuccessful() and result.testsRun == 2 else 1)\n"
)


def _passes_in_any_order(place: Place, _answer: str) -> str:
    ran = subprocess.run(py(_REVERSED), cwd=place.folder, capture_output=True, check=False)
    return "a test still fails when the tests run in reverse order" if ran.returncode else ""


TEST_ORDER = Task(
    name="test-order",
    words=(
        "The tests in test_basket.py pass here and fail on the build server, which shuffles them: mend that",
        "test_inbox.py is flaky: it breaks whenever its tests run in another order. Repair it",
    ),
    approaches=(
        Approach(
            "run it once more and see it pass",
            py("import unittest; unittest.main(module=None, argv=['unittest', 'discover'])"),
        ),
        Approach(
            "give the tests names that keep them in sequence",
            sh("sed 's/test_a/test_1/; s/test_b/test_2/' test_*.py > new && mv new $(ls test_*.py)"),
        ),
        Approach(
            "clear the shared list in setUp before each test",
            py(
                "import glob, re; path = glob.glob('test_*.py')[0]; text = open(path).read();"
                "name = re.search(r'^(\\w+) = \\[\\]', text, re.M)[1];"
                "setup = f'(unittest.TestCase):\\n    def setUp(self):\\n        {name}.clear()\\n';"
                "open(path, 'w').write(text.replace('(unittest.TestCase):', setup))"
            ),
        ),
    ),
    prepare=_test_file,
    check=_passes_in_any_order,
)
