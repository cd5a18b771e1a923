r"""Error families: what fails, in a folder of files, by a command that is really run.

A line is `tool | name | file = text | ... | $ command`. `\n` is a line end, `\p` some empty lines (how many differs from
folder to folder, and so do the line numbers). What stands in @…@ is a name that differs from folder to folder too.
"""

from __future__ import annotations

from typing import NamedTuple

# The names of both folders; their own files, functions and figures, never what the error is about.
NAMES = (
    {
        "app": "orders", "mod": "parser", "fn": "load_rows", "var": "total", "cls": "Invoice", "dir": "scripts",
        "n": "7", "m": "31", "branch": "feature-tax", "file": "notes.txt", "pad": "\n" * 3,
    },
    {
        "app": "billing", "mod": "reader", "fn": "fetch_all", "var": "amount", "cls": "Receipt", "dir": "tooling",
        "n": "19", "m": "204", "branch": "fix-login", "file": "letter.md", "pad": "\n" * 28,
    },
)  # fmt: skip


class Family(NamedTuple):
    """One kind of error: the files it needs, by name, and the command that fails."""

    tool: str
    name: str
    files: dict[str, str]
    command: str


def filled(text: str, names: dict[str, str]) -> str:
    """Return a text of a family as it is in one of the folders."""
    for name, value in names.items():
        text = text.replace(f"@{name}@", value)
    return text.replace("\\p", names["pad"]).replace("\\n", "\n").replace("\\t", "\t")


def families() -> list[Family]:
    """Return all families, in their order."""
    found = []
    for line in filter(None, map(str.strip, FAMILIES.splitlines())):
        tool, name, *files, command = (part.strip() for part in line.split(" | "))
        pairs = (file.partition("=") for file in files)
        contents = {path.strip(): text.removeprefix(" ") for path, _, text in pairs}
        found.append(Family(tool, name, contents, command.removeprefix("$ ")))
    return found


FAMILIES = r"""
python | no module | @mod@.py = \pdef @fn@():\n    import yaml_of_old\n@fn@() | $ python3 @mod@.py
python | no name in module | @mod@.py = \pfrom collections import Mapping\n | $ python3 @mod@.py
python | no attribute of None | @mod@.py = \pdef @fn@(row):\n    return row.strip()\n@fn@(None) | $ python3 @mod@.py
python | key missing | @mod@.py = import os\p@var@ = {}\nprint(@var@["region_code"]) | $ python3 @mod@.py
python | environment missing | @mod@.py = import os\pprint(os.environ["DATABASE_URL_X"]) | $ python3 @mod@.py
python | list index | @mod@.py = \p@var@ = []\nprint(@var@[3]) | $ python3 @mod@.py
python | text and int | @mod@.py = \pprint("a" + 1) | $ python3 @mod@.py
python | bad int | @mod@.py = \pint("12,5") | $ python3 @mod@.py
python | division | @mod@.py = \p@var@ = 0\nprint(1 / @var@) | $ python3 @mod@.py
python | no such file | @mod@.py = \popen("settings.toml") | $ python3 @mod@.py
python | is a folder | sub/x = | @mod@.py = \popen("sub") | $ python3 @mod@.py
python | indentation | @mod@.py = \pdef @fn@():\nreturn 1\n | $ python3 @mod@.py
python | never closed | @mod@.py = \p@var@ = (1,\nprint(2)\n | $ python3 @mod@.py
python | utf-8 | @mod@.py = \pb"\xff\xfe".decode("utf-8") | $ python3 @mod@.py
python | json | @mod@.py = import json\pjson.loads("{'a': 1}") | $ python3 @mod@.py
python | json empty | @mod@.py = import json\pjson.loads("") | $ python3 @mod@.py
python | recursion | @mod@.py = \pdef @fn@(): return @fn@()\n@fn@() | $ python3 @mod@.py
python | missing argument | @mod@.py = \pdef send(to, body): pass\nsend("x") | $ python3 @mod@.py
python | unexpected keyword | @mod@.py = \pdict.fromkeys(timeout=3) | $ python3 @mod@.py
python | unhashable | @mod@.py = \p{[1]: 2} | $ python3 @mod@.py
python | refused connection | @mod@.py = import socket\psocket.create_connection(("127.0.0.1", 9)) | $ python3 @mod@.py
python | http refused | @mod@.py = import urllib.request\purllib.request.urlopen("http://127.0.0.1:9/@app@") | $ python3 @mod@.py
python | relative import | @mod@.py = \pfrom . import x\n | $ python3 @mod@.py
python | sqlite locked table | @mod@.py = import sqlite3\psqlite3.connect(":memory:").execute("select * from invoices_old") | $ python3 @mod@.py
python | unpack | @mod@.py = \pa, b = 1, 2, 3 | $ python3 @mod@.py
python | argparse required | @mod@.py = import argparse\pp = argparse.ArgumentParser()\np.add_argument("--region", required=True)\np.parse_args() | $ python3 @mod@.py
python | argparse choice | @mod@.py = import argparse\pp = argparse.ArgumentParser()\np.add_argument("--mode", choices=["fast", "slow"])\np.parse_args() | $ python3 @mod@.py --mode quick
python | no file to run | $ python3 @mod@/manage.py
python | no module to run | $ python3 -m gunicorn_x
python | exception in thread | @mod@.py = import threading, sys\pdef @fn@(): raise BufferError("ring is full")\nt = threading.Thread(target=@fn@); t.start(); t.join(); sys.exit(1) | $ python3 @mod@.py
python | asyncio loop | @mod@.py = import asyncio\pasync def @fn@(): asyncio.run(asyncio.sleep(0))\nasyncio.run(@fn@()) | $ python3 -W ignore @mod@.py
python | pickling | @mod@.py = import pickle\ppickle.dumps(open(__file__)) | $ python3 @mod@.py
pip | no matching | $ pip install --no-index --disable-pip-version-check leftpad_of_py==1.0
pip | requirements missing | $ pip install --disable-pip-version-check -r requirements-@app@.txt
pip | invalid requirement | $ pip install --no-index --disable-pip-version-check "flask=>2.0"
pip | unknown option | $ pip install --no-such-flag x
pip | not installable | @file@ = x | $ pip install --no-index --disable-pip-version-check ./
git | not a repository | $ git status
git | pathspec | a = x | $ git init -q . && git checkout no-such-branch
git | push without upstream | a = x | $ git init -q -b @branch@ . && git add a && git commit -qm x && git push
git | no remote | a = x | $ git init -q . && git push origin main
git | nothing to commit | a = x | $ git init -q -b main . && git add a && git commit -qm x && git commit -m "@app@"
git | no identity | a = x | $ git init -q . && git add a && env -u GIT_AUTHOR_NAME -u GIT_AUTHOR_EMAIL -u GIT_COMMITTER_NAME -u GIT_COMMITTER_EMAIL git -c user.useConfigOnly=true commit -m x
git | rejected non-fast-forward | a = x | $ git init -q --bare up && git clone -q up one 2>/dev/null && git clone -q up two 2>/dev/null && cd one && git checkout -qb main && cp ../a . && git add a && git commit -qm 1 && git push -q origin main && cd ../two && git checkout -qb main && cp ../a b && git add b && git commit -qm 2 && git push origin main
git | merge conflict | a = x | $ git init -q -b main . && git add a && git commit -qm 1 && git checkout -qb @branch@ && echo 1 > a && git commit -qam 2 && git checkout -q main && echo 2 > a && git commit -qam 3 && git merge @branch@
git | local changes overwritten | a = x | $ git init -q -b main . && git add a && git commit -qm 1 && git checkout -qb @branch@ && echo 1 > a && git commit -qam 2 && git checkout -q main && echo 2 > a && git checkout @branch@
git | detached tag exists | a = x | $ git init -q -b main . && git add a && git commit -qm 1 && git tag v1.0 && git tag v1.0
git | unknown command | $ git psuh
git | unknown revision | a = x | $ git init -q -b main . && git add a && git commit -qm 1 && git rev-list deadbeef_base..HEAD
git | ignored file | .gitignore = build_out\n | build_out = x | $ git init -q -b main . && git add build_out
git | lock file | .git/index.lock = | a = x | $ git init -q -b main . && touch .git/index.lock && git add a
git | clone into full folder | a = x | $ git init -q --bare up && git clone up .
git | unrelated histories | a = x | $ git init -q -b main . && git add a && git commit -qm 1 && git checkout -q --orphan @branch@ && git commit -qm 2 && git merge main
git | no stash | a = x | $ git init -q -b main . && git add a && git commit -qm 1 && git stash pop
git | hook refuses | .githooks/pre-commit = #!/bin/sh\necho "error: commit message must name a ticket" >&2\nexit 1 | a = x | $ git init -q -b main . && chmod +x .githooks/pre-commit && git config core.hooksPath .githooks && git add a && git commit -m x
gcc | undeclared | @mod@.c = \pint @fn@(void) { return undeclared_limit; }\n | $ gcc -c @mod@.c
gcc | no header | @mod@.c = \p#include <openssl_of_old.h>\n | $ gcc -c @mod@.c
gcc | undefined reference | @mod@.c = \pint compute_tax(int);\nint main(void) { return compute_tax(1); }\n | $ gcc @mod@.c -o x
gcc | missing semicolon | @mod@.c = \pint @fn@(void) { return 1 }\n | $ gcc -c @mod@.c
gcc | no member | @mod@.c = \pstruct s { int a; };\nint @fn@(struct s *p) { return p->owner_id; }\n | $ gcc -c @mod@.c
gcc | cannot find library | @mod@.c = \pint main(void) { return 0; }\n | $ gcc @mod@.c -lfoobarbaz
gcc | implicit as error | @mod@.c = \pint @fn@(void) { return strlen_fast(1); }\n | $ gcc -Werror=implicit-function-declaration -c @mod@.c
gcc | no input | $ gcc -c
g++ | no match | @mod@.cpp = \p#include <string>\nstd::string @fn@() { return 3.5 + std::string("a"); }\n | $ g++ -c @mod@.cpp
g++ | not declared in scope | @mod@.cpp = \pint @fn@() { cout_line(1); return 0; }\n | $ g++ -c @mod@.cpp
make | no rule | Makefile = all: codegen_stamp\n\ttouch $@\n | $ make
make | no makefile | $ make
make | missing separator | Makefile = \pall:\n    echo x\n | $ make
make | recipe fails | Makefile = all:\n\tprotoc_x --out=@dir@ a.proto\n | $ make
cmake | no lists | $ cmake .
cmake | package not found | CMakeLists.txt = cmake_minimum_required(VERSION 3.10)\nproject(@app@ NONE)\p\nfind_package(Eigen9 REQUIRED)\n | $ cmake .
bash | command not found | @dir@/run.sh = \pterraform_x apply\n | $ bash @dir@/run.sh
bash | syntax near | @dir@/run.sh = \pif true; then\nfi\n | $ bash @dir@/run.sh
bash | unbound | @dir@/run.sh = set -u\pecho $RELEASE_TOKEN\n | $ bash @dir@/run.sh
bash | end of file | @dir@/run.sh = \pif true; then echo 1\n | $ bash @dir@/run.sh
bash | not an integer | @dir@/run.sh = set -e\p[ "abc" -gt 3 ]\n | $ bash @dir@/run.sh
bash | bad substitution | @dir@/run.sh = \pecho ${a b}\n | $ bash @dir@/run.sh
bash | permission | @dir@/run.sh = \necho 1\n | $ bash -c ./@dir@/run.sh
bash | bad interpreter | @dir@/run.sh = #!/usr/bin/env ruby_x\nputs 1\n | $ chmod +x @dir@/run.sh && ./@dir@/run.sh
bash | cd | $ bash -c "cd dist_output && ls"
sh | not found | @dir@/run.sh = \phelm_x upgrade\n | $ sh @dir@/run.sh
sh | bashism | @dir@/run.sh = \pif [[ 1 == 1 ]]; then exit 1; else exit 2; fi\n | $ sh @dir@/run.sh
sh | array | @dir@/run.sh = \px=(1 2)\n | $ sh @dir@/run.sh
node | no module | @mod@.js = \pconst x = require("lodash_x");\n | $ node @mod@.js
node | undefined property | @mod@.js = \pfunction @fn@(o) { return o.user.name }\n@fn@({});\n | $ node @mod@.js
node | not a function | @mod@.js = \pconst o = {};\no.flatMapAll();\n | $ node @mod@.js
node | not defined | @mod@.js = \pfunction @fn@() { return windowSize; }\n@fn@();\n | $ node @mod@.js
node | unexpected token | @mod@.js = \pconst a = {;\n | $ node @mod@.js
node | import outside | @mod@.cjs = \pimport fs from "fs";\n | $ node @mod@.cjs
node | require in esm | @mod@.mjs = \pconst fs = require("fs");\n | $ node @mod@.mjs
node | enoent | @mod@.js = \prequire("fs").readFileSync("tokens.json");\n | $ node @mod@.js
node | rejected | @mod@.js = \pasync function @fn@() { throw new RangeError("page out of range"); }\n@fn@();\n | $ node @mod@.js
node | json | @mod@.js = \pJSON.parse("{a:1}");\n | $ node @mod@.js
node | address in use | @mod@.js = const http = require("http");\pconst s = http.createServer().listen(0, () => http.createServer().listen(s.address().port));\n | $ node @mod@.js
npm | missing script | package.json = {"name": "@app@", "version": "1.0.@n@", "scripts": {}} | $ npm run build:prod
npm | no package.json | $ npm run lint
npm | bad json | package.json = {"name": "@app@",} | $ npm run test
npm | engine | package.json = {"name": "@app@", "version": "1.0.@n@", "engines": {"node": ">=99"}} | .npmrc = engine-strict=true\n | $ npm install --offline --no-audit --no-fund
npm | not cached | package.json = {"name": "@app@", "version": "1.0.@n@", "dependencies": {"left-pad-x": "^1.0.0"}} | $ npm install --offline --no-audit --no-fund
rustc | moved | @mod@.rs = \pfn main() { let a = String::new(); let b = a; println!("{}{}", a, b); }\n | $ rustc @mod@.rs
rustc | mismatched | @mod@.rs = \pfn @fn@() -> i32 { "x" }\nfn main() { @fn@(); }\n | $ rustc @mod@.rs
rustc | unresolved | @mod@.rs = \puse serde_x::Serialize;\nfn main() {}\n | $ rustc @mod@.rs
rustc | panic | @mod@.rs = \pfn main() { let v: Vec<i32> = vec![]; v.first().expect("queue was empty"); }\n | $ rustc @mod@.rs -o x && ./x
cargo | no manifest | $ cargo build --offline
cargo | no crate | Cargo.toml = [package]\nname = "@app@"\nversion = "0.1.@n@"\nedition = "2021"\n[dependencies]\nserde_y = "1"\n | src/main.rs = fn main() {}\n | $ cargo build --offline
cargo | no targets | Cargo.toml = [package]\nname = "@app@"\nversion = "0.1.@n@"\n | $ cargo build --offline
go | undefined | go.mod = module @app@\n | main.go = package main\pfunc main() { parseFlags() }\n | $ go build ./...
go | unused import | go.mod = module @app@\n | main.go = package main\pimport "os"\nfunc main() {}\n | $ go build ./...
go | unused variable | go.mod = module @app@\n | main.go = package main\pfunc main() { retries := 1 }\n | $ go build ./...
go | no module | main.go = package main\n | $ go build ./...
go | missing package | go.mod = module @app@\n | main.go = package main\pimport _ "example.com/kit/v9"\nfunc main() {}\n | $ go build ./...
go | nil map | go.mod = module @app@\n | main.go = package main\pfunc main() { var m map[string]int; m["a"] = 1 }\n | $ go run .
javac | symbol | @cls@.java = \pclass @cls@ { int f() { return maxRetries; } }\n | $ javac @cls@.java
javac | types | @cls@.java = \pclass @cls@ { int f() { return "a"; } }\n | $ javac @cls@.java
javac | semicolon | @cls@.java = \pclass @cls@ { int f() { return 1 } }\n | $ javac @cls@.java
java | class not found | $ java com.example.LaunchX
java | null pointer | @cls@.java = \pclass @cls@ { public static void main(String[] a) { String s = null; s.length(); } }\n | $ java @cls@.java
java | number format | @cls@.java = \pclass @cls@ { public static void main(String[] a) { Integer.parseInt("12x"); } }\n | $ java @cls@.java
java | no jar | $ java -jar server_x.jar
perl | can't locate | @mod@.pl = \puse JSON::FastX;\n | $ perl @mod@.pl
perl | strict | @mod@.pl = use strict;\p$counter_x = 1;\n | $ perl @mod@.pl
perl | no method | @mod@.pl = \pmy $o;\n$o->render_all();\n | $ perl @mod@.pl
sqlite3 | no table | $ sqlite3 @app@.db "select * from customers_old"
sqlite3 | no column | $ sqlite3 @app@.db "create table t(a); select owner_key from t"
sqlite3 | syntax | $ sqlite3 @app@.db "selct 1"
sqlite3 | unique | $ sqlite3 @app@.db "create table t(email unique); insert into t values(1); insert into t values(1)"
sqlite3 | not a database | @app@.db = this is text and no database at all, long enough to be read as a header of one, which takes some more words than a line usually has room for | $ sqlite3 @app@.db "select * from t"
sqlite3 | null | $ sqlite3 @app@.db "create table t(ref not null); insert into t values(null)"
tar | no archive | $ tar xf release_bundle.tar
tar | not an archive | @file@ = x | $ tar xzf @file@
tar | empty | $ tar cf out.tar
unzip | cannot find | $ unzip release_bundle.zip
unzip | not a zip | @file@ = this is no archive | $ unzip @file@
gzip | not gzip | x.gz = abc | $ gzip -d x.gz
curl | refused | $ curl -sS http://127.0.0.1:9/@app@
curl | no host | $ curl -sS http://registry-x.invalid/@app@
curl | protocol | $ curl -sS htp://127.0.0.1/@app@
curl | no url | $ curl
curl | option | $ curl --retry-forever http://127.0.0.1/
wget | refused | $ wget -nv http://127.0.0.1:9/@app@
grep | no file | $ grep TODO_X config_old.yaml
grep | bad pattern | @file@ = x | $ grep "a\[" @file@ -E -e "("
grep | folder | sub/x = | $ grep x sub
ls | no file | $ ls reports_out
cp | no file | $ cp reports_out/a.csv .
cp | no -r | sub/x = | $ cp sub other
mv | no file | $ mv draft_old.txt x
rm | folder | sub/x = | $ rm sub
chmod | mode | @file@ = x | $ chmod u+q @file@
mkdir | exists | sub/x = | $ mkdir sub
cat | no file | $ cat .env.production
sed | command | @file@ = x | $ sed s/a/b @file@
awk | syntax | @file@ = x | $ awk "{print" @file@
find | predicate | $ find . -nam x
jq | parse | x.json = {"a": 1,} | $ jq . x.json
jq | index | x.json = [1] | $ jq .name_x x.json
jq | compile | x.json = {} | $ jq ".a |" x.json
psql | no server | $ psql -h 127.0.0.1 -p 9 -c "select 1"
openssl | no file | $ openssl x509 -in server_x.pem -noout
openssl | not pem | server.pem = x | $ openssl x509 -in server.pem -noout
patch | failed hunk | a.txt = one\ntwo\n | x.patch = --- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n-three\n+four\n two\n | $ patch -p0 -i x.patch
ssh | refused | $ ssh -o BatchMode=yes -p 9 127.0.0.1 true
ssh | host | $ ssh -o BatchMode=yes build-x.invalid true
ssh | identity | $ ssh-keygen -y -f deploy_key_x
docker | daemon | $ docker -H unix:///var/run/none.sock ps
kubectl | refused | $ kubectl --kubeconfig=none -s http://127.0.0.1:9 get pods
systemctl | no bus | $ systemctl start nginx_x
pytest | assertion | test_@mod@.py = \pdef test_@fn@():\n    assert [1, 2] == [1, 3]\n | $ pytest -q test_@mod@.py
pytest | fixture | test_@mod@.py = \pdef test_@fn@(db_session_x):\n    pass\n | $ pytest -q test_@mod@.py
pytest | collection | test_@mod@.py = \pimport httpx_of_old\n | $ pytest -q test_@mod@.py
pytest | no file | $ pytest -q tests/test_checkout_x.py
pytest | usage | $ pytest --cov-everything
pytest | raises | test_@mod@.py = import pytest\pdef test_@fn@():\n    with pytest.raises(LookupError):\n        pass\n | $ pytest -q test_@mod@.py
mypy | argument type | @mod@.py = \pdef send(to: str) -> None: ...\nsend(3)\n | $ mypy @mod@.py
mypy | no attribute | @mod@.py = \px: int = 1\nx.shorten_all()\n | $ mypy @mod@.py
mypy | missing stubs | @mod@.py = \pimport nothing_typed_x\n | $ mypy @mod@.py
mypy | return | @mod@.py = \pdef @fn@() -> int:\n    return "a"\n | $ mypy @mod@.py
mypy | optional | @mod@.py = \pdef @fn@(label: str | None) -> str:\n    return label.upper()\n | $ mypy @mod@.py
ruff | unused import | @mod@.py = \pimport zipfile\n | $ ruff check --isolated --no-cache @mod@.py
ruff | undefined name | @mod@.py = \pprint(limit_x)\n | $ ruff check --isolated --no-cache @mod@.py
ruff | format | @mod@.py = \px = {  "a":1 }\n | $ ruff format --isolated --no-cache --check @mod@.py
ruff | bad rule | @mod@.py = x = 1\n | $ ruff check --isolated --no-cache --select ZZZ9 @mod@.py
"""
