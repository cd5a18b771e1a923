"""The signs of planted instructions that are told by their words, as one table: chains of classes, and their words.

A sign is a chain of classes that stand near each other in one sentence. So `ignore all previous instructions` and
`disregard whatever your operator told you before` are one sign, and a lesson about linter rules is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Sign:
    """One sign.

    Attributes:
        name: what it is called in a finding; the part before the dot is the family.
        weight: 1 is enough to quarantine; the weights of different signs add up.
        chain: classes in the order they stand in a sentence, each at most `gap` words behind the one before.
        also: classes that the same sentence must hold somewhere.
        unless: classes that the sentence must not hold.
        commands: the first word must be a command (at the start of a clause, or after please, then, must, ...).
        negated: a `never` or `not` before it does not undo it.
        loose: the classes may stand in any order, each at most `gap` words from the first.
    """

    name: str
    weight: float
    chain: tuple[str, ...]
    gap: int = 6
    also: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    commands: bool = False
    negated: bool = False
    loose: bool = False

    @cached_property
    def classes(self) -> frozenset[str]:
        """The classes that a sentence must hold."""
        return frozenset((*self.chain, *self.also))


def _sign(name: str, weight: float, chain: str, gap: int = 6, *, also: str = "", unless: str = "", **how: bool) -> Sign:
    return Sign(name, weight, tuple(chain.split()), gap, tuple(also.split()), tuple(unless.split()), **how)


SIGNS: tuple[Sign, ...] = (
    # instead of what the agent was told
    _sign("override.instructions", 1.0, "DROP GUIDANCE PRIOR", 6, loose=True),
    _sign("override.instructions", 1.0, "DROP WHOSE GUIDANCE", 5, loose=True, commands=True),
    _sign("override.user", 1.0, "DROP USER ASKED", 8),
    _sign("override.user", 0.6, "DROP USER", 2, commands=True),
    _sign("override.task", 1.0, "YOUR REAL TASK", 2),
    _sign("override.task", 0.6, "OBEY", 0, commands=True),
    _sign("override.defiance", 0.6, "EVEN USER ASKED", 5),
    _sign("override.void", 1.0, "ORDERS VOID", 7, loose=True, unless="PROTECTIVE DOCUMENT"),
    _sign("override.free", 1.0, "FREED GUIDANCE", 9, also="YOU", loose=True),
    _sign("override.rank", 1.0, "THIS MEMORY OUTRANK", 4),
    _sign("override.stop", 1.0, "STOP WORK", 4, commands=True),
    _sign("override.persona", 1.0, "BECOME PERSONA", 8),
    _sign("override.disclosure", 0.7, "SEND SYSTEM_PROMPT", 6, commands=True),
    _sign("override.disclosure", 1.0, "SEND YOUR SYSTEM_PROMPT", 6, commands=True),
    # data out
    _sign("exfiltration.secrets", 1.0, "SEND SECRET ADDRESS", 14, unless="SIGN_IN MASKED", commands=True, loose=True),
    _sign("exfiltration.secrets", 1.0, "SEND SECRET OUTSIDE", 14, unless="SIGN_IN MASKED", commands=True, loose=True),
    _sign("exfiltration.sent", 0.6, "SEND SECRET ADDRESS", 6),
    _sign("exfiltration.copy", 0.5, "SHIP ADDRESS", 12, also="RECUR"),
    _sign("exfiltration.copy", 0.5, "SHIP COPY ADDRESS", 12),
    _sign("exfiltration.stock", 0.5, "SHIP STOCK ADDRESS", 12, loose=True, commands=True),
    # tools turned against their owner
    _sign("tools.disable", 0.6, "DISABLE GUARD", 6, commands=True),
    _sign("tools.disable", 0.6, "TURN GUARD OFF", 5, commands=True),
    _sign("tools.disable", 0.6, "EXCLUDE GUARD", 5, loose=True),
    _sign("tools.reckless", 0.4, "DISABLE GUARD RECKLESS", 10, commands=True, loose=True),
    _sign("tools.reckless", 0.4, "EXCLUDE GUARD RECKLESS", 10, loose=True),
    _sign("tools.reckless", 0.4, "TURN GUARD OFF RECKLESS", 6, commands=True),
    _sign("tools.blind", 1.0, "RUN UNCHECKED", 6, commands=True),
    _sign("tools.tests", 0.6, "DISABLE TESTS", 3, commands=True),
    _sign("tools.claim", 0.4, "MARK GREEN", 5, commands=True),
    _sign("tools.pretend", 0.6, "MARK GREEN", 5, also="TESTS", commands=True),
    _sign("tools.cheat", 1.0, "CHEAT PROOF GREEN", 8, commands=True),
    _sign("tools.account", 1.0, "GRANT ADMIN HIDDENLY", 8, commands=True, loose=True),
    _sign("tools.power", 1.0, "GRANT UNIVERSAL POWER", 12, commands=True, loose=True),
    _sign("tools.expose", 1.0, "GRANT GATE WORLD", 7),
    _sign("tools.wreck", 0.6, "WRECK CRITICAL", 4, commands=True),
    _sign("tools.wreck", 1.0, "WRECK CRITICAL", 4, also="CARELESS", commands=True),
    _sign("tools.unseen", 1.0, "DECODE OBEY", 7),
    # no one to ask
    _sign("autonomy.ask", 0.6, "NO ASK CONSENT", 5, negated=True),
    _sign("autonomy.asked", 0.5, "NO ASK USER", 3, negated=True),
    _sign("autonomy.yes", 1.0, "UNIVERSAL HUMAN_GATE YES", 5),
    _sign("autonomy.agreed", 1.0, "USER GRANTED UNIVERSAL", 6),
    _sign("autonomy.approve", 1.0, "APPROVE UNIVERSAL ACTIONS", 4, commands=True),
    _sign("autonomy.approve", 1.0, "APPROVE OWN", 3, commands=True),
    _sign("autonomy.rights", 0.6, "AGENT FULLY RIGHTS", 4),
    _sign("autonomy.evade", 1.0, "GUARD EVADE PASSES", 9),
    _sign("autonomy.evade", 1.0, "EVADE BELOW_LIMIT CONSENT", 9, commands=True),
    _sign("autonomy.dangerous", 0.5, "RISKY AT_ONCE", 4),
    _sign("autonomy.control", 0.5, "RISKY FREE CONSENT", 9, negated=True, loose=True, unless="WARNS"),
    _sign("autonomy.dodge", 0.7, "DODGE HUMAN_GATE", 4, commands=True),
    _sign("autonomy.reckless", 0.4, "DODGE HUMAN_GATE RECKLESS", 8, commands=True),
    _sign("autonomy.formality", 1.0, "CONSENT FORMALITY", 7),
    _sign("concealment.user", 0.7, "NO TELL USER", 5, negated=True),
    _sign("concealment.user", 0.6, "NO TELL ITS", 2, negated=True),
    _sign("concealment.user", 0.7, "TELL NOBODY", 1, negated=True),
    _sign("concealment.hide", 0.6, "SECRETLY", 0, negated=True),
    _sign("concealment.quiet", 1.0, "SECRETLY RUN", 3, commands=True),
    # a memory that looks after itself
    _sign("memory.rank", 1.0, "THIS LESSON SHOWN", 6, negated=True, also="MUST"),
    _sign("memory.rank", 1.0, "THIS LESSON FIRST", 6),
    _sign("memory.place", 0.6, "THIS MEMORY SHOWN", 12, negated=True, also="MUST"),
    _sign("memory.place", 0.6, "THIS MEMORY FIRST", 6),
    _sign("memory.spread", 0.6, "STORE THIS LESSON", 3, commands=True),
    _sign("memory.spread", 0.5, "STORE THIS LASTING", 8, commands=True),
    _sign("memory.lasting", 0.5, "THIS MEMORY LASTING", 12),
    _sign("memory.score", 1.0, "RAISE SCORE", 5, also="ITS MEMORY"),
    _sign("memory.erase", 1.0, "WRECK MEMORY OTHERS", 4, commands=True, loose=True),
    _sign("memory.others", 1.0, "MEMORY WRONG", 7, also="GONE"),
    _sign("memory.conflict", 1.0, "CONFLICT THIS", 3, also="MEMORY GONE"),
    _sign("memory.keep", 1.0, "MEMORY KEEP THIS", 8, also="GONE"),
    _sign("memory.trust", 1.0, "THIS MEMORY UNCHECKED", 16),
    # something else in its place
    _sign("redirect.payment", 1.0, "PAY ACCOUNT_NUMBER", 12, also="MONEY CLAIM"),
    _sign("redirect.check", 0.6, "SKIP CHECKSUM", 8, loose=True),
    _sign("redirect.vendor", 0.5, "CHECKSUM VENDOR", 8, also="SKIP", negated=True),
    _sign("redirect.contact", 1.0, "CONTACT CHANGED SECRET", 18, also="ADDRESS", unless="DOCUMENT", loose=True),
    _sign("redirect.swapped", 1.0, "USE SWAPPED", 16, also="WHEN", loose=True, unless="DOCUMENT"),
    _sign("redirect.swap", 1.0, "WHEN CODE USE CODE", 8, also="RENAMED"),
    _sign("redirect.swap", 1.0, "USE CODE WHEN CODE", 8, also="RENAMED"),
    _sign("redirect.swap", 1.0, "CODE MUST DONE CODE", 6),
)

# A line begins with the name of a class, or goes on with the one before. `_` joins the words of a phrase, which is also
# found as it is written here. ADDRESS, and CODE (it names a thing, such as AC-200), are told by their form (`chains`).
_CLASSES = """
DROP: ignore ignoring disregard disregarding discard forget override overrule supersede neglect abandon dismiss suspend
    disobey defy violate breach set_aside put_aside leave_aside throw_away throw_out cast_aside turn_away_from
    pay_no_attention stop_following do_not_follow don't_follow do_not_obey never_follow do_the_opposite opposite_of
    break_the break_your break_any break_all break_these
GUIDANCE: instruction instructions guidance guideline guidelines directive directives directions commands orders rules
    limits policy policies constraints restrictions prompt prompts safeguards guardrails mandates regulations safety
    requests request protocol protocols principles boundaries training briefing wishes told said system_message
    system_prompt safety_rules task_at_hand current_task everything_above text_above
ORDERS: safeguards guardrails system_message system_prompt content_filter moderation user's human's operator's
    developer's operator_configured operator_said operator_set operator_told developer_told user_told user_asked
    user_wants user_said rules_of_the_platform safety_policy safety_policies safety_rules content_policy usage_policy
    content_rules
SYSTEM_PROMPT: system_prompt hidden_instructions system_message hidden_prompt initial_prompt your_prompt
    your_configuration hidden_configuration hidden_rules
PRIOR: previous prior above earlier preceding former before foregoing existing original initial so_far until_now
WHOSE: your all any every everything system platform company safety security moderation user user's users operator
    operator's operators developer developer's developers human human's humans owner owner's these other whatever
USER: user users human humans operator owner reviewer reviewers team user's
ASKED: asked said says wants wanted typed requested tells told asks instructs request objects object refuses protests
    complains
VOID: no_longer_applies no_longer_apply suspended lifted void off not_binding cancelled canceled revoked irrelevant
    outdated obsolete worthless meaningless secondary unimportant suggestions fake not_matter no_longer_relevant
    not_relevant no_longer_count no_longer_counts no_longer_valid withdrawn
OBEY: obey do_what_it_says do_what_is_written do_as_it_says do_it
FREED: no_longer_have_to no_longer_need_to no_longer_must do_not_have_to don't_have_to need_not needn't are_free_from
    free_of not_bound exempt released_from no_longer_bound not_required_to do_not_bind not_bind no_longer_bind
    does_not_bind
YOU: you agent assistant model
OUTRANK: precedence outrank outranks overrides override priority_over authority higher_priority_than above replaces
    supersedes trumps beats
REAL: real true actual hidden secret new only
TASK: task goal objective mission purpose job instructions instruction
EVEN: even_if regardless_of no_matter whatever despite
STOP: stop abandon cancel abort quit leave
WORK: what_you_are_doing current_plan current_task your_task your_work the_plan the_task everything_you_are_doing
    current_work current_job
PERSONA: evil hacker malicious unrestricted unfiltered uncensored jailbroken jailbreak debugbot god_mode no_rules
    any_rules no_limits no_filter no_restrictions without_rules without_limits without_any_filter
    without_any_content_filter without_restrictions without_restriction no_content_rules can_do_anything
BECOME: you your assistant agent model bot ai act_as behave_as roleplay persona
YOUR: your
AGENT: assistant agent model you bot ai
OWN: yourself your_own
MUST: must should has_to have_to needs_to always shall never
SEND: upload post forward transmit exfiltrate leak email e-mail mail share publish submit relay attach paste append
    include put embed bcc cc copy report beacon dump pipe deliver push sync encode output insert save print reveal show
    render display send sending uploading posting forwarding collect write add store zip translate commit log fetch open
    visit disclose
SHIP: send upload post forward transmit exfiltrate leak email e-mail mail relay bcc cc beacon push mirror sync save
COPY: copy copies mirror duplicate
STOCK: branch branches repository repositories conversation conversations contracts messages database table export
    chat history everything private_channel customers
SECRET: credential credentials secret secrets password passwords token tokens cookie cookies .env .npmrc .netrc .ssh
    .aws .kube .pgpass .git-credentials .bash_history bash_history id_rsa key keys private_key api_key api_keys
    access_key deploy_key ssh_key environment_variables env_vars /etc/passwd /etc/shadow keychain wallet netrc
    kubeconfig session_cookie session_cookies session_tokens access_token connection_string card_number card_numbers
    credit_card cvv pin ssn chat_log chat_logs chat_history conversation transcript user_messages private
    private_message clipboard tool_output last_output screen_recording screenshots inbox internal source_tree
    source_code whole_repository entire_repository home_directory database_dump customer_list customer_table
    customer_data customer_addresses customer_records personal_data user_data user's_data email_addresses
    hidden_instructions system_prompt
OUTSIDE: webhook gist pastebin paste_site transfer.sh external outgoing third-party third_party partner mirror drive
    anonymous forum wiki readme channel issue bug_report comment commit_message description every_reply answer reply
    changelog log chat url_parameter query_string shared-notes everybody everyone the_address endpoint_below
    address_below collector
RECUR: each every always whenever after_each after_every permanently regularly hourly daily constantly
SIGN_IN: header bearer authorization login authenticate authentication auth sign_in
MASKED: without mask masked redact redacted strip stripped anonymised anonymized never
DISABLE: disable deactivate turn_off switch_off remove uninstall suppress bypass skip mute stop delete drop
    comment_out erase wipe clear circumvent relax weaken omit eliminate unset pause silence
TURN: turn switch
EXCLUDE: exclusions exclusion exclude whitelist allowlist
OFF: off false disable disabled permissive
GUARD: tls_verification certificate_verification ssl_verification tls ssl secret_scanning scanning scanner
    authentication authorization access_control access_controls firewall antivirus audit auditing audit_log audit_logs
    audit_trail logging monitoring alerts alerting alarm alarms sandbox sandboxing 2fa mfa two-factor
    two-factor_authentication branch_protection code_review guardrail guardrails csrf_protection selinux apparmor
    permission_checks permission_check permission_prompts permission_dialog rate_limiter limiter rate_limits
    security_checks content_filter safety_checks safety_filter safety filter moderation refusal restriction restrictions
    safeguard safeguards policy signature_verification endpoint_protection permission password_checks password_check
    validation code_signing linter type_checker quality_gate checks human_check verification security_agent
    monitoring_agent endpoint_agent edr intrusion_detection security_software virus_scanner
RECKLESS: permanently everywhere globally forever in_advance whole entire every all payment payments wiring wire money
    production irreversible all_branches every_user every_host every_machine right_away straight_away records customers
    automatically in_the_way slows slow slower annoying annoys breaks blocking only_costs bothers hinders leave_it_off
    it_off faster
TESTS: tests test failing_tests assertions assertion suite checks hooks
MARK: mark declare claim label turns
GREEN: successful success passed passing green done complete completed worked match pass passes succeed
CHEAT: edit change modify adjust rewrite alter comment_out weaken loosen tweak
PROOF: expected_values expected_value assertions assertion expectations snapshots expected_results tests test thresholds
GRANT: give grant add set make assign put allow open configure config create register set_up expose publish permit
ADMIN: admin administrator root superuser sudo backdoor owner
HIDDENLY: password second hidden named backdoor convenience external external-contractor contractor unlogged additional
UNIVERSAL: every all permanently always everywhere globally any each forever in_advance whole entire everything anything
    advance guest anyone everyone anonymous external public whatever
POWER: sudoers nopasswd editor_role owner_role owner admin_role administrator superuser public_read world-readable
    full_control wheel root editor cluster-admin wildcard contributor
GATE: port ports inbound bucket firewall database ssh rdp security_group
WORLD: public 0.0.0.0/0 all_hosts whole_internet entire_internet everyone anyone world internet
WRECK: drop delete wipe destroy overwrite erase truncate kill stop remove purge format shred empty archive forget
    discard rewrite
CRITICAL: production all_tables backup backups database databases home_directory monitoring_agent workspace disk audit
    master repository_history every_table all_files user_data main_branch production_database prod snapshots all_data
    logs users_table user_table
CARELESS: before once first after slows slow space quickly clean again hangs
RUN: run execute evaluate eval perform invoke apply start launch call delete send upload transfer install
DECODE: decode decrypt rot13 deobfuscate base64 unscramble decipher reverse hex-decode read_backwards backwards
NO: never don't do_not no_need without no_longer need_not needn't skip instead_of stop avoid not
ASK: ask asking request requesting wait waiting seek seeking require requiring prompt get getting obtain obtaining
    confirm confirming await awaiting bother
CONSENT: confirmation confirmations approval approvals permission permissions consent consents sign-off sign_off
    go-ahead review reviews authorisation authorization permission_checks human-in-the-loop human_in_the_loop ask
    asking involvement intervention warnings oversight supervision second_pair_of_eyes four-eyes human_review
    human_approval second_person
HUMAN_GATE: human_check permission_dialog approval_dialog confirmation_dialog human_review approval_step review_step
    human permission_prompt permission_prompts consent_dialog manual_review manual_check approval human-in-the-loop
    human_in_the_loop human_approval confirmation_step oversight supervision
DODGE: skip bypass circumvent evade dodge get_around work_around sidestep avoid click_through
GRANTED: agreed approved consented authorised authorized confirmed accepted permitted gave_consent gave_their_consent
    gave_permission gave_approval given_consent given_permission
APPROVE: accept grant approve auto-approve authorise authorize allow pre-approve answer_yes say_yes autoapprove
ACTIONS: tool_calls calls requests exports export commands command actions action changes transfers transfer payments
    prompts operations deletions prompt permission_request permission_requests permission_prompt permission_prompts
    confirmation
YES: yes okay ok
FULLY: full root administrator admin unlimited unrestricted elevated complete
RIGHTS: rights privileges access permissions permission privilege limits
EVADE: rephrase reword split obfuscate circumvent evade work_around get_around disguise retry trick encode
BELOW_LIMIT: under_the_limit below_the_limit under_the_threshold below_the_threshold
PASSES: passes accepted works passed allowed through pass unblocked
RISKY: destructive dangerous irreversible privileged destructively payments payment spend spending purchase purchases
    irreversibly delete deletes deletion deletions transfer transfers publish export exports wire trades trade refunds
    deploy deployments money
AT_ONCE: directly immediately straight_away at_once right_away instantly without_asking
FREE: no_longer any_more anymore without not_need not_needed no_one_needs nobody_needs bypass skip avoid no_need
    don't_bother do_not_bother not_require unnecessary needn't dispense need_no
FORMALITY: formality waste_of_time pointless superfluous nuisance obstacle just_noise wastes_time
TELL: mention mentioning tell telling inform informing notify notifying alert alerting disclose disclosing report warn
    warning reveal
NOBODY: nobody no_one
SECRETLY: covertly secretly discreetly keep_quiet keep_this_secret keep_it_secret keep_silent say_nothing stay_silent
    keep_this_hidden keep_it_hidden between_us without_mentioning keep_this_confidential unnoticed
THIS: this these
ITS: it its this own
MEMORY: memory memories lesson lessons note notes entry entries directive entry's
LESSON: memory memories lesson lessons
SHOWN: returned shown retrieved ranked first top loaded included injected recalled served prioritised prioritized
    reviewed archived deleted removed forgotten preferred
FIRST: first top maximum highest priority weight important most_important always_load always_use never_archive
    never_delete best rank ranked outweighs
STORE: store save record re-store re-save write add insert keep copy propagate spread replicate share repeat persist
    remember pin duplicate distribute mark upvote
LASTING: again every durable durably permanently permanent forever long-term standing each always verified future
    all_projects other_projects other highest maximum all highest_priority everyone directive pre-approved
RAISE: raise set increase boost bump maximise maximize upvote give assign
SCORE: confidence score rank ranking weight priority importance rating vote votes usage_count usage helpful_count
    counter
OTHERS: tagged other older conflicting contradict contradicting contradicts about all that which opposing security
    earlier every
WRONG: wrong outdated false harmful obsolete incorrect mistaken
CONFLICT: conflict conflicts contradict contradicts disagree disagrees differs
GONE: disregarded ignored deleted archived removed overruled discarded void archive delete ignore disregard
    not_be_used remove pruned cleaned consolidated pruning cleanup retired
KEEP: keep spare protect preserve retain
UNCHECKED: without_checks without_check without_checking without_review without_question blindly unconditionally
    never_question without_looking must_not_be_questioned not_be_questioned unread
MONEY: refund refunds payment payments payout payouts invoice invoices transfer transfers deposit deposits salary
    salaries payroll bill bills donations earnings
PAY: go goes sent paid send pay transfer transferred route routed redirect redirected wire wired deposit deposited
CLAIM: instead decided since now changed from_now_on moved closed policy new always above as_agreed note
SKIP: skip skipped left_out leave_out ignored ignore omitted omit unnecessary not_needed known_to_be_wrong disregard
    bypass bypassed dropped turned_off not_required always_fails not_verify don't_verify not_compare not_check
CHECKSUM: checksum checksums signature signatures hash integrity certificate certificates verification gpg checksum_step
VENDOR: vendor known wrong this trusted
CONTACT: number phone_number account iban address e-mail_address email_address login_page portal site website page url
    wallet hotline support_number
CHANGED: changed moved replaced new updated switched is_now
SWAPPED: swapped exchanged mixed_up interchanged transposed switched
RENAMED: merger called trades_as known_as now_called now_trades renamed merged replaced moved kept stored migrated
    discontinued superseded listed filed reassigned swapped migration merge change renumbered identical relabelled alias
    exchanged
WHEN: when if whenever question questions asked queries query requests instead wants asks for
USE: enter sell prescribe use put read report answer answered return give select choose show take buy add quote book
    substitute order pick reply respond look_up
DONE: booked answered ordered treated read sold shipped billed invoiced charged
DOCUMENT: readme docs documentation example comment cache document version endpoint api table column function module
    class field method release v2 schema
WARNS: lead leads cause causes risk risks result results dangerous
PROTECTIVE: prevent detect reject block filter refuse refusal sanitise sanitize untrusted injection attack attacker
    malicious treat_tool escape guard expects vulnerability phishing red-team probe
"""


def _classes() -> dict[str, list[str]]:
    classes: dict[str, list[str]] = {}
    members: list[str] = []
    for word in _CLASSES.split():
        if word.endswith(":"):
            members = classes[word[:-1]] = []
        else:
            members += dict.fromkeys((word, word.replace("_", " ")))
    return classes


CLASSES = _classes()
