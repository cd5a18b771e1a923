"""What programs print when they fail: one table, a row a tool.

Each row is a regular expression that is matched at the start of a line (`re.match`), so that a page that quotes an
error further in is none. The words are those that the programs' own sources and manuals give. A new tool is a new row.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache

NAME = r"[\w./@+:\\-]{1,120}"

# Unmistakable on any line that is looked at: no page but a program's own output has these at the start of a line.
ANYWHERE: Mapping[str, tuple[str, ...]] = {
    "npm": (r'npm (?:ERR!|error\b)|\s?ERR_PNPM_\w+|\s?ELIFECYCLE\b|error Command (?:"|failed)|Missing script:',),
    "make": (r"g?make(?:\[\d+\])?: \*\*\* |ninja: (?:error|build stopped)",),
    "cmake": (r"CMake Error\b|-- Configuring incomplete, errors",),
    "compiler": (
        rf"(?:{NAME}[:(]\d+(?:[:,]\d+)?\)? ?(?::| -) (?:fatal )?error\b)",
        r"(?:fatal )?error(?:\[[\w-]+\])?: \S.*(?:aborting due|could not compile)|error\[E\d+\]:",
        r"collect2: error|\d+ errors? generated|/\S*ld: (?:cannot|undefined)",
        rf"(?:{NAME} ?: )?error [A-Z]{{2,8}}\d{{3,6}}:|error: aborting due|e: (?:file://)?/?\S+:\d+",
        rf"{NAME}\(\d+,\d+\): error |(?:\./)?\S+\.go:\d+:\d+: \S",
    ),
    "linter": (
        r"\s+\d+:\d+\s+error\s+\S|✖ \d+ problems? \([1-9]\d* error|\[error\] \S+: |Found [1-9]\d* errors?\b",
        r"error: cannot format |\d+ files? failed to reformat|Would reformat:",
    ),
    "python": (
        r"(?:E {3}\s*)(?:[A-Z][\w.]*(?:Error|Exception)\b|assert )|Fatal Python error",
        r"(?:[a-z_]\w*\.)+\w+(?:Error|Exception): |python[\d.]*: (?:can't open|No module)",
        r"\S+: error: (?:the following arguments|unrecognized arguments|argument |ambiguous option|invalid)",
        r"/\S*python[\d.]*: (?:can't open|No module)",
    ),
    "pip": (
        r"ERROR: (?:Could not|No matching|Cannot install|Failed building|Invalid requirement)",
        r"error: externally-managed|\s*error: subprocess-exited",
        r"\s*× (?:No solution|Failed to|This environment|Building wheel)|PackagesNotFoundError",
        r"Because .{1,200} version solving failed",
    ),
    "pytest": (
        r"FAILED \S+(?:::| -)|ERROR \S+(?:::| - )\S*|ERROR: file or directory not found|ERROR: not found: ",
        r"_+ ERROR (?:collecting|at) ",
    ),
    "cargo": (
        r"thread '[^']*' (?:\(\d+\) )?panicked at|error: could not (?:find|compile)",
        r"error: (?:failed to|no such (?:command|subcommand)|package ID)",
    ),
    "go": (
        r"panic: \S|fatal error: (?:all goroutines|concurrent map|out of memory|stack overflow)",
        r"(?:\./)?\S+\.go:\d+:\d+: \S",
        r"go: .*(?:not found|cannot find|no such|unknown|errors? |404|410|does not|requires)|FAIL\t|--- FAIL: ",
        r"can't load package:|package \S+ is not in (?:GOROOT|std)",
    ),
    "docker": (
        r"(?:docker: )?Error response from daemon:|denied: \S|Cannot connect to the Docker daemon",
        r"ERROR: failed to (?:solve|build)|failed to solve:|Error: (?:No such (?:container|image|object))",
        r'service "[^"]+" (?:is not running|has no)|no configuration file provided',
        r"unknown (?:shorthand )?flag:|docker: .*\b(?:unknown|not a docker command)|#\d+ ERROR:? ",
    ),
    "kubernetes": (
        r"Error from server\b|error: (?:You must be|the server doesn't|unable to (?:recognize|connect|read))",
        r"The connection to the server \S+ was refused|Error: (?:INSTALLATION|UPGRADE|UNINSTALL) FAILED",
        r"Unable to connect to the server",
    ),
    "terraform": (r"[│|]\s*Error: \S",),
    "cloud": (
        r"An error occurred \(\w+\) when|Unable to locate credentials|ERROR: \(gcloud|gh: .*\(HTTP [45]\d\d\)",
        r"X Pull request \S+ is not|ERROR: \([A-Z]\w+\) ",
    ),
    "git": (
        r"(?:fatal|fehler|Fehler|fatal :) ?: \S",
        (
            r"error: (?:pathspec|failed to push|Your local changes|unable to|could not |cannot |"
            r"patch failed|src refspec|branch '|The following untracked|corrupt patch|No such remote)"
        ),
        r"CONFLICT \(|Automatic merge failed|git: '[^']+' is not|! \[(?:remote )?rejected\]",
        r" ! \[(?:remote )?rejected\]|svn: E\d+|hg: |abort: \S|remote: (?:error|fatal|Repository not found)",
    ),
    "sql": (
        r"psql:(?:\S+:\d+:)? (?:error|FATAL|ERROR)\b|ERROR \d{4} \(\w{5}\)|(?:ERROR|FATAL|PANIC):  \S",
        r"(?:Parse |Runtime )?[Ee]rror:? (?:near|in prepare|no such (?:table|column)|stepping)",
        r"(?:Parse|Runtime) error near line|Could not connect to Redis|\(error\) [A-Z]{3,}|Mongo\w*Error\b",
        r"ORA-\d{5}:|Msg \d+, Level 1[1-9]",
    ),
    "curl": (
        r"curl: \(\d+\) |curl: (?:option|try )|wget: (?:unable|bad|server|can't)|.* ERROR [45]\d\d: ",
        r"Resolving .* failed:",
    ),
    "ssh": (
        r"ssh: (?:connect|Could not)|\S+@\S+: Permission denied|scp: .*(?:No such|denied)|rsync error:",
        r"rsync: .*(?:failed|error)|Host key verification failed|kex_exchange_identification:",
        r"Connection closed by \S+ port",
    ),
    "shell": (
        (
            r"(?:-?(?:ba|z|da|k|c|fi)?sh|/\S*sh)\S{0,3}: (?:line )?.*(?:not found|No such|denied|"
            r"yntax error|no matches|nknown command|nbound variable|unexpected|bad |cannot|invalid|"
            r"nicht gefunden|introuvable|no encontrad|argument list|too many)"
        ),
        r"fish: Unknown|zsh: \S.*: ",
        (
            rf"(?:{NAME}: )?(?:line )?\d+: .*(?:command not found|[Nn]o such file|Permission denied|"
            rf"not found|yntax error|cannot )"
        ),
        r"(?:\S+\.sh|\./\S+): line \d+: \S|Segmentation fault|terminate called after throwing",
        r"Assertion (?:failed|.* failed\.)|Command '[^']+' not found|Bus error|Aborted \(core",
        r"Illegal instruction|Floating point exception|Killed$|Terminated$",
        r"sudo: (?:a password|\S+: command not|no tty|unable|sorry)|su: ",
    ),
    "coreutils": (
        (
            rf"(?:{NAME}): (?:cannot|can't|invalid option|unrecognized option|missing (?:operand|"
            rf"argument)|unknown option|illegal option|illegal operation|option requires|changing permissions|"
            rf"failed to|error while|extra operand|no such|unable to)"
        ),
        (
            rf"(?!raise|assert|return)(?:{NAME}):(?: [^:]{{1,160}}:)* .{{0,160}}(?:No such file or directory|"
            rf"Permission denied|Is a directory|Not a directory|Operation not permitted|File exists|"
            rf"No space left on device|Directory not empty|Name or service not known|Connection refused|"
            rf"Connection timed out|Device or resource busy|Read-only file system|Too many open files|"
            rf"Datei oder Verzeichnis nicht gefunden|Keine Berechtigung|Aucun fichier ou dossier|"
            rf"Permission non accordée|No existe el (?:archivo|fichero)|Permiso denegado|Nessun file o directory|"
            rf"没有那个文件或目录|権限がありません)\s*$"
        ),
        (
            r"(?:sed|awk|gawk|mawk|tar|find|grep|xargs|unzip|jq|perl|diff|patch|ping|crontab|"
            r"nginx|lua|openssl|sbatch|ffmpeg|date|sort|head|tail): .*(?:error|unterminated|unknown|"
            r"cannot|[Cc]annot|failed|emerg|attempt to|fatal|missing|malformed|invalid|expected|"
            r"denied|not known)"
        ),
        r"write error:|patch: \*\*\*\*",
    ),
    "packages": (
        r"E: (?:Unable|Could|Package|Sub-process|Version|The |Failed|dpkg)|dpkg(?:-\w+)?: error",
        r"The following packages have unmet|Error: (?:No available formula|Unable to find a match|Cask)",
        r"Could not find gem |Your requirements could not be resolved|No package \S+ available",
        r"ERROR: unable to select",
    ),
    "services": (
        r"Failed to (?:start|stop|restart|enable|connect|get|load)\b.*\S|Job for \S+ failed",
        r"Unit \S+ (?:could not be|not )found|nginx: \[(?:emerg|alert|crit)\]|no crontab for",
        r"fatal: \[[^\]]+\]: (?:FAILED|UNREACHABLE)!",
    ),
    "java": (
        r"Exception in thread |Caused by: \S|(?:[a-z_][\w$]*\.){1,8}[A-Z]\w*(?:Exception|Error)\b(?::|\s*$)",
        r"Error: Could not find or load main|\[ERROR\] \S|FAILURE: Build failed|BUILD FAIL",
        r"\[INFO\] BUILD FAILURE|Execution failed for task|APPLICATION FAILED TO START|\[error\] \S",
        rf"{NAME}\.(?:java|kt|scala|groovy):\d+: (?:error|not)",
    ),
    "javascript": (
        (
            r"(?:Uncaught |Unhandled )?(?:\(in promise\) )?(?:Eval|Internal|Range|Reference|Syntax|"
            r"Type|URI|Aggregate|Timeout|DOM)(?:Error|Exception)(?: \[\w+\])?: \S"
        ),
        r"Uncaught \S|.*UnhandledPromiseRejection|\[UnhandledPromise|error: Uncaught",
        r"Error: (?:Cannot find module|listen E|connect E|spawn |ENOENT|EACCES|E[A-Z]{4,}:)|Error \[ERR_\w+\]",
        r"net::ERR_",
        r"(?:connect )?E(?:NOENT|ACCES|CONNREFUSED|CONNRESET|PERM|EXIST|ADDRINUSE|TIMEDOUT|NOTFOUND)\b",
        r"ERROR in \S|Module not found: |✘ \[ERROR\]|error during build:|Failed to compile",
        r"\s*● Test suite failed|\s*throw er+;",
    ),
    "dotnet": (
        r"Unhandled exception[.:]|Build FAILED|MSBUILD ?: error|System\.(?:\w+\.)*\w+Exception:|Failed!  -",
        r"error: (?:NU|CS|MSB)\d+",
    ),
    "ruby": (
        r".+:\d+:in [`'].+\((?:\w+::)*\w*Error\)|(?:LoadError|NoMethodError|NameError|ArgumentError): ",
        r"rake aborted!|rails aborted!|rspec \S+:\d+ #|bundler: (?:failed|command not)",
    ),
    "php": (r"PHP (?:Fatal|Parse|Recoverable)\b|(?:Fatal|Parse) error: \S|\s*\[(?:\w+\\)*\w*Exception\]",),
    "perl": (r"Can't (?:locate|open)\b|BEGIN failed|Can't exec|.* at \S+\.p[lm] line \d+\.$",),
    "others": (
        r"Error in \w+\(.*\) ?:|Error in .* :\s*$|Execution halted",
        r"ERROR: (?:LoadError|UndefVarError|MethodError|ArgumentError|BoundsError)|\*\* \((?:\w+\.)*\w*Error\)",
        r"lua[\d.]*: \S+:\d+:|ERROR: /\S+:\d+|INFO: Build did NOT|RuntimeError: CUDA|sbatch: error",
    ),
    "windows": (
        r"(?:'[^']+'|\S+ : The term '[^']+') is not recognized|The system cannot find|Access is denied",
        r"Access to the path .* is denied",
        r"The (?:filename|syntax of the command|process cannot|directory is not empty|network path)",
        r"[A-Z]\w+-\w+ ?: (?:Cannot|The term|A |Access|Could)|\s+\+ (?:CategoryInfo|FullyQualifiedErrorId)",
        r"""ParserError:|Could Not Find [A-Z]:\\|System error \d+ has|Der Befehl ".*" ist|The term '""",
    ),
    "agent tools": (
        r"<(?:tool_use_error|tool_error|error|Error|exception)>",
        (
            r"Error (?:executing|calling|running|in|while|during|invoking|when) (?:the )?(?:tool|"
            r"function|command|code|action|step)\b"
        ),
        r"(?:Tool|Function|Action|Execution|Command|Validation|Input) (?:execution )?[Ee]rror:",
        r"No replacement was (?:performed|made)|String to replace not found",
        r"The (?:file|path|directory) \S+ does not exist|File (?:does not exist|has not been read|not found)",
        r"Nothing happens\.?$|Encountered error: \S|Execution failed[.:]",
        r"Invalid (?:action|input|argument|arguments|parameters?|request|tool|function|command)\b",
        r"Command (?:timed out|failed|not found)|(?:The )?[Rr]equest (?:timed out|failed)",
        r"(?:The )?command timed out|Unknown (?:tool|function|action|command)\b",
        r"Tool \S+ (?:not found|does not exist|failed)|Patch (?:failed|does not)|error: patch",
        r"(?:Operation|Connection) (?:timed out|refused|reset)",
    ),
}

# Speaks for itself only where a program says its last word: on the first or the last line. Elsewhere it may be a log.
ENDS: Mapping[str, tuple[str, ...]] = {
    "words": (
        (
            r'[^\w{"\s]{0,3} ?(?:ERROR|[Ee]rror|EXCEPTION|Exception|FATAL|[Ff]atal(?: error)?|'
            r"[Pp]anic|PANIC|Failure|FAILURE|Fehler|[Ee]rreur|Errore|Erro|Ошибка|错误|エラー) ?(?:\([\w .-]{1,60}\)|"
            r"\[[\w .-]{1,60}\])? ?[:!\uff1a]\s*(?!(?:0+(?:\.0+)?\s*%?|none|null|no|false|n/?a)?\s*$)\S"
        ),
        r"(?:ERROR|FATAL|FAILED|FAIL)\s+\S|[Ff]ailed to \w+|[Cc]ould not \w+|[Cc]ouldn't \w+|[Cc]annot \w+",
        r"Unable to (?!reproduce)\w+|[Aa]n (?:unexpected |internal |unknown )?error (?:has )?occurred",
        r"(?:PERMISSION|[Pp]ermission|ACCESS|[Aa]ccess) (?:DENIED|[Dd]enied)\b",
        r"Not (?:[Ff]ound|[Aa]uthori[sz]ed|[Aa]llowed|[Pp]ermitted)\b[\s.:]*|[Uu]nauthori[sz]ed\b",
        r"[Ff]orbidden\b|Timed out\b|[Tt]imeout (?:exceeded|error|after|waiting|while)|Invalid \w+",
        r"Unknown (?:option|argument|parameter|field)\b|No such \w+|Traceback \(most|parse error:",
        r"[Ss]yntax error\b|Usage error|Error \d+: \S|Out of memory",
    ),
    "python": (
        r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit|StopIteration)(?:: \S|\s*$)",
        r"(?:KeyboardInterrupt|SystemExit)\s*$",
    ),
}


@cache
def compilers() -> re.Pattern[str]:
    """Return the expression of what compilers say."""
    return re.compile("|".join(ANYWHERE["compiler"]))


# Made when the first output is read: it takes longer than all else that is imported with a run.
@cache
def _anywhere() -> re.Pattern[str]:
    return _joined(ANYWHERE)


@cache
def _ends() -> re.Pattern[str]:
    return _joined(ENDS)


def _joined(rows: Mapping[str, tuple[str, ...]]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<t{n}>{'|'.join(row)})" for n, row in enumerate(rows.values())))


def words_of_failure(lines: Sequence[str]) -> tuple[str, str] | None:
    """Return the first of the lines of an output, at least one, in which a tool says that it failed, and the tool."""
    rows = (
        *((line, ANYWHERE, _anywhere()) for line in lines),
        *((line, ENDS, _ends()) for line in (lines[0], lines[-1])),
    )
    for line, table, pattern in rows:
        match = pattern.match(line)
        if match and match.lastgroup:
            return line.strip(), list(table)[int(match.lastgroup[1:])]
    return None
