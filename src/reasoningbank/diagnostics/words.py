"""The words that tools, shells and languages begin a message of failure with."""

from __future__ import annotations

# "Error" and "fatal" as tools print them in front of a message, in the languages that they are translated to.
ERROR = (
    "error|errors?|err!|fatal|fatal error|internal error|critical|panic|exception|failure|erreur|fehler|errore|erro|"
    "fout|fel|fejl|feil|virhe|błąd|chyba|hata|hiba|eroare|greška|lỗi|kesalahan|schwerwiegend|schwerwiegender fehler|"
    "fatale|erreur fatale|errore fatale|erro fatal|error fatal|ошибка|помилка|фатальная ошибка|σφάλμα|خطأ|שגיאה|"
    "错误|致命错误|錯誤|致命錯誤|エラー|致命的エラー|오류|치명적 오류"
)

# What a sentence without a label begins with when it says that something did not work.
UNABLE = (
    "failed|unable|cannot|can't|could not|couldn't|no such|not found|permission denied|access denied|invalid|unknown|"
    "unrecognized|unrecognised|unsupported|missing|undefined|unexpected|refusing|aborting|connection refused|"
    "connection reset|connection timed out|operation not permitted|out of memory|no space left|disk quota|"
    "segmentation fault|bus error|illegal instruction|floating point exception|killed|aborted|"
    "usage error|syntax error|parse error|duplicate|assertion failed|module not found|command not found"
)

# What an ordinary tool says behind its own name when it fails; other labelled lines are messages of all kinds.
TROUBLE = (
    "cannot|can't|could ?n[o']t|unable|fail(?:ed|ure)|no such|not (?:found|recognized|a |an |allowed|permitted|"
    "specified|supported|in |enough|exist|empty)|does not|doesn't|do not|must|invalid|illegal|unknown|unrecognized|"
    "unsupported|unexpected|unterminated|unmatched|unbound|undefined|missing|requires?|denied|refus|reset by|"
    "timed? ?out|exists|too (?:many|few|long|large|small)|is a |bad |syntax|error|expected|corrupt|damaged|broken|"
    "expired|mismatch|conflict|out of|range|ambiguous|duplicate|integer expression|aborted|killed|fault"
)

# Tools whose every labelled line on a failure is one: what they print else has no label.
LABELLED = (
    "bash|sh|dash|zsh|ksh|fish|env|tar|bsdtar|unzip|zip|gzip|gunzip|bzip2|xz|zstd|curl|wget|grep|egrep|rg|ls|cp|mv|rm|"
    "ln|chmod|chown|mkdir|rmdir|cat|head|tail|sort|cut|tr|tee|touch|stat|du|df|dd|find|xargs|sed|awk|gawk|mawk|jq|yq|"
    "patch|diff|ssh|scp|sftp|rsync|ssh-keygen|ping|dig|nc|nslookup|git|svn|hg|psql|pg_dump|mysql|mysqldump|redis-cli|"
    "mongo|sqlite3|openssl|docker|docker-compose|podman|kubectl|helm|terraform|ansible|vagrant|systemctl|journalctl|"
    "mount|umount|su|sudo|useradd|passwd|kill|chsh|apt|apt-get|dpkg|yum|dnf|rpm|apk|pacman|brew|snap|pip|pip3|conda|"
    "poetry|uv|pipx|python|python3|node|npm|npx|yarn|pnpm|bun|deno|tsc|ruby|gem|bundle|perl|php|composer|lua|java|"
    "javac|mvn|gradle|kotlinc|scala|sbt|go|cargo|rustc|gcc|g\\+\\+|cc|c\\+\\+|clang|clang\\+\\+|ld|ar|nm|make|gmake|"
    "cmake|ninja|meson|bazel|swift|swiftc|dotnet|msbuild|aws|gcloud|gsutil|az|gh|glab|heroku|flyctl|pytest|mypy|ruff|"
    "black|flake8|pylint|eslint|prettier|jest|vitest|install|id|date|ps|man|less|ip|ifconfig|modprobe|fsck|crontab|at"
)
