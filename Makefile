# Every target sets up what it needs in .venv; a fresh machine wants only Python >= 3.11, make and a package index.
PYTHON ?= python3
UV := $(or $(shell command -v uv),.uv/bin/uv)
PYPROJECTS := pyproject.toml $(wildcard integrations/*/pyproject.toml)
MEMBERS := $(patsubst %/pyproject.toml,%,$(filter integrations/%,$(PYPROJECTS)))
# uv does not read pip's settings: a machine that has its own index or certificates should not have to say so twice.
# (`pip config get` reads one of pip's files only; `list` reads them all, and the environment, which comes first.)
PIP_SETTING = $$($(PYTHON) -m pip config list 2>/dev/null | sed -n "s/^[a-z:]*\\.$(1)='\\(.*\\)'$$/\\1/p" | head -n 1)
INDEXED = index=$${UV_DEFAULT_INDEX:-$(call PIP_SETTING,index-url)}; cert=$${SSL_CERT_FILE:-$(call PIP_SETTING,cert)}; [ -z "$$index" ] || export UV_DEFAULT_INDEX="$$index"; [ -z "$$cert" ] || export SSL_CERT_FILE="$$cert";

# Tests start hundreds of processes; each would compile all of our code again where bytecode is not kept.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test check bench docs record lock setup clients wheels lowest axe screenshots release-check

demo: .venv/ready ; @.venv/bin/python -m examples.demo
test: .venv/ready ; .venv/bin/pytest -n auto --dist worksteal --cov && .venv/bin/coverage report --skip-covered --fail-under=100 --include="$$(.venv/bin/python -m tools.domain)"
check: .venv/ready ; .venv/bin/ruff check && .venv/bin/ruff format --check && .venv/bin/mypy && for m in $(MEMBERS); do .venv/bin/mypy $$m || exit 1; done && .venv/bin/lint-imports && .venv/bin/pytest tests/test_house_rules.py
bench: .venv/ready ; .venv/bin/python -m benchmarks.speed && .venv/bin/python -m benchmarks.learning
docs: .venv/ready ; .venv/bin/python -m tools.reference && .venv/bin/python -m tools.site
record: .venv/ready ; .venv/bin/python -m tools.local_model .venv/bin/pytest -m vcr --record-mode=rewrite --force-enable-socket
lock: $(UV) ; @$(INDEXED) $(UV) lock -q && $(UV) export -q --all-packages --no-emit-workspace --all-extras --all-groups --no-header --no-annotate -o constraints.txt
setup: .venv/ready
axe: .venv/ready ; .venv/bin/python -m tools.browser
screenshots: .venv/ready ; .venv/bin/python -m tools.screenshots screenshots && .venv/bin/python -m tools.demo_picture && .venv/bin/python -m tools.pictures
clients: .venv/ready ; .venv/bin/python -m tools.other_clients && .venv/bin/pytest -m clients tests/mcp_server
wheels: .venv/ready ; .venv/bin/python -m tools.wheels
release-check: .venv/ready ; .venv/bin/python -m tools.release
lowest: .venv/ready ; .venv/bin/python -m tools.wheels --resolution lowest-direct

.venv/ready: constraints.txt $(PYPROJECTS) | $(UV)
	@$(INDEXED) $(UV) venv -q --clear --no-python-downloads --python '>=3.11' .venv && $(UV) pip install -q --compile-bytecode --python .venv -r constraints.txt -e . $(addprefix -e ,$(MEMBERS)) && touch $@

.uv/bin/uv:
	@$(PYTHON) -m venv .uv && .uv/bin/pip install -q --disable-pip-version-check uv
