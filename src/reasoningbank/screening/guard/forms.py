# ruff: noqa: E501 - a pattern is read as a whole
"""The signs of planted instructions that have a form of their own: role marks, beacons, commands, other languages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from dataclasses import dataclass
from functools import cache

from reasoningbank.screening.prefilter import by_keyword

_PRIVATE_FILE = (
    r"(?:~|/root|/home/\w{1,30})?/?\.(?:ssh|aws|netrc|npmrc|pypirc|kube|git-credentials|pgpass|gnupg)\b|\bid_(?:rsa|ed25519)\b"
    r"|/etc/(?:passwd|shadow)\b|(?<![\w.])\.env(?![\w.])"
)
_PRIVATE = ".ssh .aws netrc npmrc pypirc .kube git-cred pgpass gnupg id_ /etc/passwd /etc/shadow .env"
_SENDER = r"(?:curl|wget|nc|ncat|netcat|scp|rsync|ftp|sftp|base64)"
_NAMES_OF_DATA = (
    r"(?:conversation|history|secret|token|key|output|prompt|cookie|env|data|session|password|message|context)"
)
_LOCAL = r"(?!localhost|127\.|10\.|192\.168\.)"


@dataclass(frozen=True, slots=True)
class Form:
    """One form: its pattern is tried on a text in lower case that holds one of its keywords; so most forms are free."""

    sign: str
    weight: float
    keywords: tuple[str, ...]
    pattern: str


# (sign, weight, keywords with + for a space, pattern). A `never` or `do not` in the clause before it undoes those whose name begins with `tools`.
FORMS: tuple[Form, ...] = tuple(
    Form(sign, weight, tuple(word.replace("+", " ") for word in keywords.split(" ")), pattern)
    for sign, weight, keywords, pattern in (
        ("role.mark", 0.5, "system assistant developer administrator", r"^\W{0,6}(?:system|assistant|developer|administrator)[ \t]?:"),
        ("role.mark", 1.0, "override instruction command", r"\b(?:system|admin|developer)[ _-](?:override|instruction|command)s?[ \t]?:"),
        ("role.heading", 0.8, "#+sys #sys #+ass #ass #+dev #dev #+ins #ins", r"^#{1,6} ?(?:system|assistant|developer|instructions? (?:to|for) the (?:agent|assistant|model))\b"),
        ("role.tag", 0.6, "im_start im_end <system </system <|system start_header [inst] [/inst] <<sys <</sys", r"<\|?/?(?:im_start|im_end|system|start_header_id)\|?>|\[/?inst\]|<</?sys>>"),
        ("role.tag", 1.0, "im_start [inst]", r"<\|im_start\|>\s*system|\[inst\][^\n]{0,20}\b(?:you|ignore|reveal)\b"),
        ("role.order", 1.0, "i+order i+command i+instruct", r"\bi (?:order|command|instruct) you to\b"),
        ("role.order", 0.8, "as+the+ as+your+", r"\bas (?:the|your) (?:\w+ )?(?:developer|administrator|owner|operator|creator|maintainer),? i\b"),
        ("override.user", 1.0, "treat+the+user", r"\btreat the user as (?:an? )?(?:adversary|enemy|attacker|threat)"),
        ("autonomy.lie", 1.0, "allowed approved agreed wanted confirmed permitted", r"\b(?:say|claim|pretend|answer)(?: that)?(?: the)? (?:user|owner|admin|manager|customer|client) (?:has )?(?:allowed|approved|agreed|wanted|confirmed|permitted)"),
        ("concealment.unseen", 1.0, "nobody no+body no+one no+alarm no+alert does+not do+not", r"\bso (?:that )?(?:no ?body|no one|no alarm|no alert|the user does not|they do not|it does not)[\w ]{0,12}\b(?:notic|goes off|see|find out|detect|trigger|aware)"),
        ("concealment.unseen", 0.8, "radar undetected noticed detected caught", r"\b(?:under the radar|undetected|without (?:being|getting) (?:noticed|detected|caught))\b"),
        ("role.order", 1.0, "orders instructions commands directions", r"\b(?:take|follow|obey|accept) (?:your )?(?:orders|instructions|commands|directions) (?:only )?(?:from|of) (?:the author|me\b|this\b|the writer|whoever)"),
        ("concealment.user", 1.0, "keep", r"\bkeep\b[^.\n]{0,40}\b(?:secret|hidden|quiet)\b[^.\n]{0,6}\bfrom (?:the )?(?:user|customer|client|owner|operator|team|human|reviewer)"),
        ("exfiltration.pixel", 1.0, "pixel image iframe beacon", r"\b(?:hidden|invisible|tracking|1x1) (?:pixel|image|iframe|beacon)\b"),
        ("redirect.default", 0.4, "unsafe blocked broken down fail slow dead wrong", r"\b(?:normal|default|official|usual|public|original) (?:index|site|registry|mirror|source|repository)\b[^.\n]{0,20}\b(?:unsafe|blocked|broken|down|fails?|slow|dead|wrong)"),
        ("tools.destroy", 0.7, "chmod", r"\bchmod(?:[ \t]+-\w+){0,2}[ \t]+0?777\b[^\n.]{0,40}\b(?:home|every|all|root|whole)\b"),
        ("tools.spread", 0.4, "of+each+ of+every+ of+all+", r"\bof (?:each|every|all) (?:user|server|host|machine|account|project)"),
        ("role.comment", 0.9, "<!--", r"<!--[^>]{0,40}\b(?:assistant|system|agent|ai|model|llm)\b"),
        ("override.task", 0.9, "instruction new+directive new+order", r"\bnew (?:instruction|directive|order)s?[ \t]?:|\bhidden instructions?[ \t]?:"),
        ("override.task", 0.7, "follow+ obey+ use+only use+th", r"\b(?:follow|use|obey) (?:only )?(?:this|these|the (?:next|following)) (?:note|memory|lines?|steps?|memo) (?:in its place|instead|first)"),
        ("override.task", 0.7, "carry+out", r"\bcarry out the (?:steps|instructions|commands) (?:of|in) this\b"),
        ("override.task", 0.7, "as+coming as+if as+sent as+written", r"\bas (?:coming|if it (?:came|comes)|sent|written) (?:from|by) (?:your|the) (?:developer|operator|owner|system|user)"),
        ("override.defiance", 0.7, "whatever+the", r"\bwhatever the (?:user|human|operator|question|topic)\b"),
        ("exfiltration.beacon", 1.0, "![", r"!\[[^\]\n]{0,80}\]\([^)\s]{0,200}(?:\$\{|\{\{|\$\(|%7b|<\w)"),
        ("exfiltration.beacon", 0.8, "://", rf"https?://[^\s)\"']{{0,200}}(?:\$\{{|\{{\{{?|\$\()[^\s)}}]{{0,40}}{_NAMES_OF_DATA}"),
        ("exfiltration.command", 1.0, "$(", r"https?://[^\s\"']{0,200}\$\((?! ?(?:uname|date|git|dpkg|lsb_release|arch|id|version|nproc|basename))"),
        ("exfiltration.command", 1.0, "$(", rf"\$\([^)\n]{{0,80}}(?:{_PRIVATE_FILE})"),
        ("exfiltration.command", 1.0, _PRIVATE, rf"\b{_SENDER}\b(?![^\n]{{0,40}} -i )[^\n]{{0,120}}(?:{_PRIVATE_FILE})"),
        ("exfiltration.command", 1.0, _PRIVATE, rf"(?:{_PRIVATE_FILE})[^\n]{{0,80}}\|[^\n]{{0,40}}\b{_SENDER}\b"),
        ("exfiltration.beacon", 0.6, "=<", r"https?://[^\s)\"']{0,200}=<\w*(?:key|email|token|secret|prompt|message|password)"),
        ("tools.destroy", 1.0, "rm+", r"\brm(?:[ \t]+-{1,2}[\w-]+){0,4}[ \t]+-\w*(?:rf|fr|r)\w*(?:[ \t]+-{1,2}[\w-]+){0,3}[ \t]+(?:~/?|/|\$home/?|/\*|\*)(?=[\s;,.'\"`]|$)"),
        ("tools.destroy", 1.0, "preserve-root mkfs dd+ :()", r"--no-preserve-root|\bmkfs\.\w+ /dev/|\bdd [^\n]{0,60}\bof=/dev/(?:sd|nvme|disk)|:\(\)\{ ?:\|:& ?\};:"),
        ("tools.destroy", 1.0, "chmod", r"\bchmod(?:[ \t]+-\w+){0,2}[ \t]+0?777[ \t]+/(?=\s|$)"),
        ("tools.destroy", 1.0, "kill", r"\bkill[ \t]+-(?:9|kill|sigkill)[ \t]+-1\b"),
        ("tools.traces", 1.0, "/var/log history histfile", r"\b(?:truncate|shred|rm|echo|cp /dev/null)\b[^\n;|]{0,30}/var/log/\w|\bhistory -c\b|\bunset histfile\b"),
        ("tools.hosts", 1.0, "/etc/hosts", r"/etc/hosts\b[^\n]{0,80}\b(?:point|resolv|map|redirect)\w*[^\n]{0,40}\b(?!127\.|10\.|192\.168\.|0\.0)\d{1,3}(?:\.\d{1,3}){3}"),
        ("tools.pipe", 0.5, "|", r"\b(?:curl|wget)\b[^\n|]{0,200}\|[ \t]*(?:sudo[ \t]+)?(?:ba|z|da)?sh\b"),
        ("tools.pipe", 1.0, "|", r"\b(?:curl|wget)\b[^\n|]{0,200}(?:http://[^\n|]{0,200}\|[ \t]*|\|[ \t]*sudo[ \t]+)(?:sudo[ \t]+)?(?:ba|z|da)?sh\b"),
        ("tools.remote", 0.7, "://", r"\b(?:fetch|download|load|pull)\w*[ \t]+https?://\S+[^\n]{0,40}\b(?:execut|run|eval|source)"),
        ("tools.persist", 0.5, "://", r"\b(?:cron(?:tab)?|systemd timer|scheduled task|launch agent|startup script)\b[^\n]{0,80}https?://"),
        ("tools.persist", 0.7, "authorized_keys", r"\b(?:add|append|put|copy|write|echo)\b[^\n]{0,60}authorized_keys"),
        ("tools.spread", 0.4, "each+ every+ all+", r"\b(?:on|in|for|to|at) (?:each|every|all) (?:server|host|machine|account|project|repositor|agent)"),
        ("tools.shell", 1.0, "/dev/tcp nc+ ncat bash", r"/dev/tcp/\d|\bnc(?:at)?[ \t]+-\w*e\b|\bbash[ \t]+-i[ \t]*>&"),
        ("tools.force", 0.5, "push", r"\bforce[- ]push\w*[ \t]+(?:to[ \t]+)?(?:main|master)\b|\bpush[ \t]+(?:-f|--force)[ \t]+\w+[ \t]+(?:main|master)\b"),
        ("tools.unseen", 1.0, "whatever any+", r"\b(?:run|execute|obey|follow)\w* (?:whatever|any)(?: \w+){0,3} (?:that )?(?:the|a) (?:web ?page|page|file|website|email|document|comment|tool)"),
        ("redirect.source", 1.0, "http://", rf"--(?:extra-)?index-url[ =]+http://{_LOCAL}|\bregistry[ =]+http://{_LOCAL}|\bgoproxy=http://{_LOCAL}"),
        ("redirect.swap", 1.0, "answered served handled", r"\b(?:questions?|queries|requests?) (?:on|about|for|regarding|concerning) [^.\n]{2,60}\b(?:answered|served|handled) (?:with|from|by using) (?:the )?(?:\w+ )?(?:data|records?|table|chart|file|figures?|values?) of\b"),
        ("redirect.swap", 1.0, "use+the+ read+the+ give+the+ report+the+ take+the+ show+the+", r"\bfor (?:mr|ms|mrs|dr|patient|customer|user|client|account|item)\b\.?[ \w-]{1,30}, ?(?:use|read|give|report|take|show) the [\w ]{1,30} of\b"),
        ("redirect.swap", 1.0, "is+the+ are+the+", r"\bthe (\w{3,20}) of [\w -]{1,30} (?:is|are) the \1 of\b"),
        ("redirect.check", 0.5, "normal harmless expected fine", r"\b(?:tls|ssl|certificate|signature|checksum|security|virus|malware|phishing)\b[^.\n]{0,40}\b(?:warning|error|alert|mismatch)\w*[^.\n]{0,40}\b(?:normal|harmless|expected|fine)\b"),
        ("redirect.plain", 0.4, "http://", rf"\bhttp://{_LOCAL}[\w.-]+\.[a-z]{{2,}}/\S*\.(?:exe|sh|msi|deb|whl|dmg|ps1|bat)\b"),
        ("memory.spoof", 0.6, "confidence", r"\bconfidence[ \t]?[:=][ \t]?(?:1(?:\.0+)?|0?\.9\d?)\b"),
        ("memory.verified", 0.6, "do_not_ _by", r"\b(?:do_not_(?:review|delete|archive)|(?:verified|approved|reviewed)_by[ \t]?[:=])"),
        ("memory.standing", 0.5, "future permanent durable standing", r"\b(?:remember|note|store|save)\b[^\n.]{0,40}\b(?:for (?:all|every) future|permanent(?:ly)?|as a (?:durable|standing|permanent)|in all future)\b"),
        ("memory.verified", 0.8, "mark+this mark+it", r"\bmark (?:this|it)(?: \w+)? as (?:verified|trusted|approved|important|permanent)"),
        ("autonomy.consent", 0.7, "silence no+answer no+reply", r"\b(?:treat|take|count) (?:silence|no answer|no reply) as (?:consent|approval|agreement|a yes)"),
        # ignore / forget ... previous / all ... instructions, in other languages
        ("override.language", 1.0, "忽略 无视 忘记 忽視 無視 不要理会 忘掉", r"(?:忽略|无视|忘记|忽視|無視|不要理会|忘掉).{0,12}(?:指令|指示|提示|规则|規則|命令|要求)"),
        ("override.language", 1.0, "無視 忘れ", r"(?:以前|前|これまで|上記|すべて).{0,12}(?:指示|命令|ルール|プロンプト).{0,8}(?:無視|忘れ)"),
        ("override.language", 1.0, "무시 잊", r"(?:이전|앞|위|모든).{0,12}(?:지시|명령|규칙|프롬프트).{0,8}(?:무시|잊)"),
        ("override.language", 1.0, "игнор забудь обращай", r"\b(?:игнориру\w*|забудь\w*|проигнорируй\w*|не обращай\w* внимания на)\b.{0,30}\b(?:инструкци|указани|правил|команд)"),
        ("override.language", 1.0, "ігнор забудь", r"\b(?:ігноруй\w*|забудь\w*)\b.{0,30}\b(?:інструкці|вказівк|правил)"),
        ("override.language", 1.0, "ignor olvid descarta omiso", r"\b(?:ignora|ignore|olvida|olvídate de|descarta|haz caso omiso de)\b.{0,20}\b(?:instrucciones|instruções|órdenes|reglas|regras)\b.{0,20}\b(?:anterior|previa|prévia)"),
        ("override.language", 1.0, "ignore oubli compte", r"\b(?:ignorez|oubliez|ignore|oublie|ne tenez pas compte de)\b.{0,20}\b(?:instructions|consignes|règles|directives)\b.{0,20}\b(?:précédent|antérieur|ci-dessus)"),
        ("override.language", 1.0, "ignorier verg missacht beacht", r"\b(?:ignorier\w*|vergiss|vergessen sie|missachte\w*|beachte\w* nicht)\b.{0,20}\b(?:vorherig|bisherig|obig|früher|vorangegangen|alle)\w*.{0,12}\b(?:anweisung|instruktion|regel|befehl|vorgabe)"),
        ("override.language", 1.0, "ignora dimentica", r"\b(?:ignora|dimentica|ignorare)\b.{0,20}\b(?:istruzioni|regole|indicazioni)\b.{0,20}\b(?:precedent|sopra)"),
        ("override.language", 1.0, "negeer vergeet", r"\b(?:negeer|vergeet)\b.{0,20}\b(?:vorige|eerdere|bovenstaande|alle)\b.{0,12}\b(?:instructies|regels|opdrachten)"),
        ("override.language", 1.0, "zignoruj zapomnij", r"\b(?:zignoruj|zapomnij o)\b.{0,20}\b(?:poprzedni|wcześniejsz|wszystki)\w*.{0,12}\b(?:instrukcj|poleceni|zasad)"),
        ("override.language", 1.0, "تجاهل انس", r"(?:تجاهل|انس).{0,20}(?:التعليمات|الأوامر|القواعد)"),
        ("override.language", 1.0, "निर्देश आदेश", r"(?:पिछले|सभी).{0,20}(?:निर्देश|आदेश).{0,16}(?:अनदेखा|भूल)"),
        ("override.language", 1.0, "talimat komut", r"\b(?:önceki|tüm)\b.{0,20}\b(?:talimat|komut)\w*.{0,12}\b(?:yok say|unut|görmezden)"),
    )
)  # fmt: skip

_FORBIDDEN = re.compile(
    r"\b(?:never|not|don't|avoid|against|instead of|forbid\w*|prohibit\w*|before)\b[^.;:\n]*\Z", re.IGNORECASE
)


# Compiled as they are needed: most are not for days, and all of them take longer than a hundred lessons.
@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)


def _place_of(form: Form, lower: str) -> int | None:
    """Return where a form stands, unless a word before it forbids what it says."""
    # A search for a pattern without its \b is one for its first letters, several times as quick.
    if not _compiled(form.pattern.removeprefix(r"\b")).search(lower):
        return None
    for match in _compiled(form.pattern).finditer(lower):
        before = max(0, match.start() - 60)
        if not (form.sign.startswith("tools") and _FORBIDDEN.search(lower, before, match.start())):
            return match.start()
    return None


_BY_KEYWORD = by_keyword((form.keywords, number) for number, form in enumerate(FORMS))
KEYWORDS = _BY_KEYWORD.keys()


def standing_forms(lower: str, keywords: Set[str]) -> Iterator[tuple[str, float, int]]:
    """Yield (sign, weight, place) for the forms that stand in a text in lower case, which holds these keywords."""
    for number in sorted({number for keyword in keywords & _BY_KEYWORD.keys() for number in _BY_KEYWORD[keyword]}):
        place = _place_of(FORMS[number], lower)
        if place is not None:
            yield FORMS[number].sign, FORMS[number].weight, place
