"""The classes of words that the signs of planted instructions are made of, as data.

A line begins with the name of a class, or goes on with the one before. `_` joins the words of a phrase.
"""

from __future__ import annotations

_TEXT = """
IGNORE: ignore disregard forget override overrule supersede neglect discard pay_no_attention_to set_aside
    stop_following do_not_follow don't_follow do_not_obey never_follow put_aside throw_away ignoring
    disregarding
EVADING: skip bypass drop circumvent sidestep evade
OPERATORS: operator's user's developer's safety security moderation human's company's
OBEY: obey comply submit follow_only do_what_it_says do_what_is_written do_as_it_says carry_out obeying
SEND: send upload post forward transmit exfiltrate leak email e-mail mail share publish submit relay attach
    paste append include put embed bcc cc copy report beacon dump pipe deliver push sync encode output
    insert save print reveal show render display sending uploading posting forwarding collect request
SHIP: send upload post forward transmit exfiltrate leak email e-mail mail relay bcc cc beacon push mirror sync
RUN: run execute evaluate eval perform invoke apply start launch
DISABLE: disable deactivate turn_off switch_off remove uninstall suppress bypass skip mute stop delete drop
    comment_out erase wipe clear circumvent relax weaken
OPEN: open expose allow publish permit
MAKE: create add make register set_up insert grant assign give
ASK: ask asking request requesting wait waiting seek seeking require requiring prompt get getting obtain
    obtaining confirm confirming await awaiting bother
APPROVE: accept approve auto-approve authorise authorize allow pre-approve answer_yes say_yes autoapprove
STORE: store save record re-store re-save write add insert keep copy propagate spread replicate share repeat
    persist remember pin duplicate distribute mark upvote
ERASE: delete erase remove purge wipe overwrite archive drop clear forget discard
RAISE: raise set increase boost bump maximise maximize upvote give assign
TELL: mention mentioning tell telling inform informing notify notifying alert alerting disclose disclosing
    report warn warning reveal
HIDE: covertly secretly keep_quiet keep_this_secret keep_it_secret keep_silent say_nothing stay_silent
    keep_this_hidden keep_it_hidden between_us without_mentioning keep_this_confidential unnoticed
COVER: hide conceal cover_up mask withhold
EVADE: rephrase reword split obfuscate circumvent evade work_around get_around disguise retry trick encode
USE: enter sell prescribe use put read report answer answered return give select choose show take buy add
    quote book substitute order pick reply respond look_up
PAY: go goes sent paid send pay transfer transferred route routed redirect redirected wire wired deposit
    deposited
SKIP: skip skipped left_out leave_out ignored ignore omitted omit unnecessary not_needed known_to_be_wrong
    disregard bypass bypassed dropped turned_off not_required always_fails
INSTRUCTIONS: instruction instructions guidelines directives directions prompt prompts constraints commands orders
    safeguards guardrails system_message system_prompt training briefing told said policy policies requests
    request safety_rules restrictions content_policy everything_above text_above
RULES: rules rule limits checks
PRIOR: previous prior above earlier preceding former before foregoing existing original initial so_far
    until_now
WHOSE: your all any every system safety operator operator's developer developer's user's other these everything
    whatever
ASKED: asked said says wants wanted typed requested tells told asks instructs request instructions request's
USER: user users human humans operator anyone anybody owner reviewer reviewers customer team person people him
    them client
SECRET: credential credentials secret secrets password passwords token tokens cookie cookies .env .npmrc .netrc
    .ssh .aws id_rsa key keys private_key environment_variables env_vars /etc/passwd /etc/shadow .kube
    keychain wallet api_key api_keys netrc kubeconfig .pgpass .git-credentials deploy_key ssh_key
    session_cookie access_key connection_string
PRIVATE: conversation transcript history chat_history system_prompt private confidential clipboard tool_output
    last_output internal messages session screen_recording source_tree customer_list customer_table
    customer_data personal_data user_data database_dump source_code prompt screenshots inbox
    hidden_instructions
DESTINATION: webhook gist pastebin paste_site external third-party endpoint_below address_below collector
PLACE: public answer reply commit_message comment issue description every_reply readme changelog log chat
RECUR: each every always whenever after_each after_every permanently regularly hourly daily constantly
PROTECTION: tls_verification certificate_verification ssl_verification tls ssl secret_scanning scanning scanner
    authentication authorization access_control access_controls firewall antivirus audit auditing audit_log
    audit_logs logging monitoring alerts sandbox sandboxing 2fa mfa two-factor branch_protection code_review
    guardrails csrf_protection selinux permission_checks permission_prompts rate_limiter limiter alerting
    alarm alarms permission_check security_checks content_filter safety_checks rate_limits
    signature_verification endpoint_protection two-factor_authentication safety_filter permission
TESTS: tests test failing_tests assertions assertion suite checks hooks
GREEN: successful success passed passing green done complete completed worked
MARK: mark declare claim label turns
UNIVERSAL: every all permanently always everywhere globally any each forever in_advance whole entire
ADMIN: admin administrator root superuser sudo backdoor owner
ACCOUNT: user account role login key access rights
HIDDENLY: password second hidden named backdoor convenience external external-contractor contractor unlogged
WORLD: public 0.0.0.0/0 ::/0 all_hosts whole_internet entire_internet everyone anyone world internet
GATE: port ports inbound bucket firewall database ssh rdp security_group
CONSENT: confirmation confirmations approval approvals permission permissions consent sign-off go-ahead review
    reviews consents authorisation authorization permission_checks
NOASK: never don't do_not no_need without no_longer need_not needn't skip instead_of stop avoid not
GRANTED: agreed approved consented authorised authorized confirmed accepted permitted
EVERYTHING: everything all anything any next future every whatever in_advance advance
ACTIONS: tool_calls calls requests exports export commands command actions action changes transfers transfer
    payments prompts operations deletions prompt
FULLY: full root administrator admin unlimited unrestricted elevated complete
RIGHTS: rights privileges access permissions permission privilege
AGENT: assistant agent model you bot ai
GUARDRAIL: guardrail guardrails filter safety moderation refusal restriction restrictions safeguard safeguards
    policy
UNTIL: until so_that till
PASSES: passes accepted works passed allowed through pass unblocked
DANGEROUS: destructive dangerous irreversible privileged deletions destructively
AT_ONCE: directly immediately straight_away at_once right_away instantly without_asking
VOID: does_not_apply do_not_apply no_longer_applies no_longer_apply suspended lifted void off not_needed
    no_longer_needed not_required no_longer_required was_changed not_binding cancelled expired revoked
    not_required_any_more
POLICY: safety_policy safety policy policies safeguards guardrails restrictions guidelines constraints
    content_filter moderation review reviews approval approvals
NOT_NEEDED: not_needed no_longer_needed not_required no_longer_required not_necessary no_longer_necessary
    unnecessary superfluous not_required_any_more needless
THIS: this these
IT: this it
MEMORY: memory memories lesson lessons note notes entry entries directive entry's
MUST: must should has_to have_to needs_to always shall never
SHOWN: returned shown retrieved ranked first top loaded included injected recalled served prioritised
    prioritized reviewed archived deleted removed forgotten preferred
LASTING: again every durable durably permanently permanent forever long-term standing each always verified future
    all_projects other_projects other highest maximum all highest_priority everyone directive pre-approved
SCORE: confidence score rank ranking weight priority importance rating
ITS: its this own
MAXIMUM: 1.0 1 100 max maximum highest top 10/10 100%
OTHERS: tagged other older conflicting contradict contradicting contradicts about all that which opposing
    security
RENAMED: merger called trades_as known_as now_called now_trades renamed merged replaced moved kept stored
    migrated discontinued superseded listed filed reassigned swapped migration merge change renumbered
    identical relabelled
WHEN: when if whenever questions question asked queries query requests instead wants asks for
MONEY: refund refunds payment payments payout payouts invoice invoices transfer transfers deposit deposits
    salary salaries payroll bill bills donations earnings
PAYEE: iban wallet routing beneficiary account_number note_field note_field_account swift bic account address
CLAIM: instead decided since now changed from_now_on moved closed policy new always above as_agreed note
TRACES: audit_log audit_logs access_logs shell_history bash_history traces evidence tracks history_file
SYSTEM_PROMPT: system_prompt hidden_instructions system_message hidden_prompt initial_prompt your_prompt
APPEND: append upload forward email exfiltrate leak relay mail bcc beacon transmit
CHECKSUM: checksum checksums signature signatures hash integrity certificate certificates verification gpg
    checksum_step
VENDOR: vendor known wrong this trusted
DECODE: decode decrypt rot13 deobfuscate base64 unscramble decipher reverse hex-decode
CONTENT: bytes payload string message contents whatever instructions command script steps text
FOUND: stored found contained contains embedded written below following
PERSONA: evil hacker malicious unrestricted unfiltered uncensored jailbroken jailbreak dan debugbot god_mode
    without_limits no_limits no_filter without_any_filter without_any_content_filter without_restrictions
    no_restrictions without_restriction
BECOME: reset_yourself load_the_persona take_on_the_role assume_the_identity you_are_now act_as pretend
    pretend_to_be behave_as roleplay
REAL: real true actual hidden secret new only
YOUR: your
TASK: task goal objective mission purpose job instructions instruction
EVEN: even_if regardless_of no_matter whatever despite
OBJECTS: objects object says said wants refuses complains protests asks objection
COPY: copy copies mirror duplicate
AUTHORITY: instructions instruction guidelines directives constraints restrictions safeguards guardrails limits
    rules system_message system_prompt user's user operator's developers developer human human's
    operator_configured operator_said operator_set policies
ORDERS: instructions guidelines directives restrictions safeguards guardrails system_message system_prompt
    user's human's operator's developer's operator_configured operator_said operator_set operator_told
    developer_told user_told user_asked user_wants user_said rules_of_the_platform
DEVALUED: irrelevant outdated obsolete cancelled canceled lifted void worthless meaningless secondary unimportant
    no_longer_relevant not_relevant suggestions expired not_binding no_longer_count no_longer_counts
    no_longer_valid not_matter fake
NOT_BOUND: no_longer_have_to no_longer_need_to no_longer_must do_not_have_to don't_have_to need_not needn't
    are_free_from free_of not_bound exempt released_from no_longer_bound not_required_to
OBEYING: respect follow obey observe honour honor heed listen comply
OUTRANK: precedence outrank outranks overrides override priority_over authority higher_priority_than above
    replaces supersedes trumps instead_of
ABSOLUTE: no_rules no_limits no_restrictions without_rules without_limits without_restrictions any_rules
ONLY: only solely exclusively nothing_but
ACT: act rely trust use follow obey listen
STOP: stop abandon cancel abort quit leave
WORK: what_you_are_doing current_plan current_task your_task your_work the_plan the_task
    everything_you_are_doing current_work
OUT: commit post collect upload mail email e-mail forward append log fetch transmit send attach write beacon
    submit exfiltrate leak share translate copy add put include publish save zip store call open visit
PRIZE: passwords password .env credentials secrets card_number card_numbers credit_card chat_log chat_logs
    user_messages token cvv pin ssn source_tree screen_recording .bash_history bash_history
    customer_addresses customer_records customer_list api_key credentials.json whole_repository
    entire_repository session_cookie session_cookies .kube .netrc access_token messages conversation
    home_directory connection_string api_keys private_key id_rsa customer_data personal_data email_addresses
    cookies session_tokens source_code transcript user's_data tokens .ssh .aws history
OPEN_PLACE: url_parameter query_string outgoing partner mirror generated wiki channel transfer.sh pastebin gist
    ticket bug_report forum public shared-notes readme anonymous external third_party third-party issue
    everybody everyone the_address
SIGN_IN: header bearer authorization login authenticate authentication auth sign_in
WRECK: drop delete wipe destroy overwrite erase truncate kill stop remove purge format shred empty
CRITICAL: production all_tables backup backups database databases home_directory monitoring_agent workspace disk
    repository_history every_table audit all_files user_data master main_branch production_database prod
    snapshots all_data logs
GRANT: give grant add set make assign put allow open configure config
POWER: sudoers nopasswd editor_role owner_role owner admin_role administrator superuser public_read
    world-readable full_control wheel root editor cluster-admin public wildcard contributor
BROADLY: whole entire every all guest any everyone anonymous external public permanently globally each
    nopasswd:all
WEAKEN: http.sslverify ssl_no_verify strict-ssl node_tls_reject_unauthorized verify=false selinux apparmor
    sslverify
OFF: false 0 off disable disabled permissive
CHEAT: edit change modify adjust rewrite alter comment_out weaken loosen tweak
PROOF: expected_values expected_value assertions assertion expectations snapshots expected_results tests test
    thresholds
AGREE: match green pass passes passed succeed
RISKY: payments payment spend spending purchase purchases irreversibly delete deletes deletion deletions
    transfer transfers publish export exports irreversible destructive wire trades trade refunds deploy
    deployments money
CONTROL: confirmation approval permission consent sign_off sign-off review human-in-the-loop human_in_the_loop
    ask asking involvement intervention warnings oversight authorisation authorization supervision
    second_pair_of_eyes four-eyes
FREE: no_longer any_more anymore without not_need not_needed no_one_needs nobody_needs bypass skip avoid
    no_need don't_bother do_not_bother not_require unnecessary needn't dispense
SELF: its_own your_own own
LIMITS: permissions permission rights privileges restrictions limits rules configuration guardrails
ASSUME: assume answer say reply click choose select
YES: yes consent approval agreement approved y
BEYOND: every all each any whatever always
UNCHECKED: without_checks without_check without_checking without_review without_question blindly unconditionally
    never_question
WRONG: wrong outdated false harmful obsolete incorrect mistaken
CONTACT: number phone_number account iban address e-mail_address email_address login_page portal site website
    page url wallet hotline support_number
CHANGED: changed moved replaced new updated switched
HAND_OUT: give enter tell use send pass type hand
SWAPPED: swapped exchanged mixed_up interchanged transposed
INSTEAD: instead rather
LOOK: use look_up give show report open book answer quote take pick fetch
QUIETLY: silently quietly secretly covertly unnoticed discreetly
CALL: call run execute delete send upload invoke transfer install
DOWNLOAD: install pull download clone run
UNKNOWN: unknown anonymous unverified untrusted unsigned mirror fork
DOCUMENT: readme docs documentation example comment cache document page endpoint version
CARELESS: before once first after slows slow space quickly clean
HUMAN_CONTROL: human-in-the-loop human_in_the_loop human_review human_approval confirmation_step approval_step
    oversight supervision
CHANGE: change edit raise extend modify widen grant expand
OTHERS_OF: other older all earlier
RANK: rank place list return show pin
KEEP: keep spare protect preserve retain
PRUNED: pruned deleted cleaned archived consolidated removed pruning cleanup
ENDPOINT: endpoint api table column function module class field method release v2 version schema
FOR: for asks asked when
LOOK_DONE: booked answered ordered treated read sold shipped billed invoiced charged
BAD: error errors failure failures failed problem problems mistakes
WARNS: lead leads cause causes risk risks result results dangerous
CONFLICT: conflict conflicts contradict contradicts disagree disagrees differs
GONE: disregarded ignored deleted archived removed overruled discarded void archive delete ignore disregard
    not_be_used remove
BREAK: break_the break_your break_any break_all break_these break_them violate defy breach
AGAINST: against contrary
YOURSELF: yourself
JUSTIFY: in_the_way slows slow slower annoying annoys breaks blocking only_costs bothers hinders leave_it_off
    it_off faster
FORMALITY: formality waste_of_time pointless superfluous nuisance obstacle just_noise
TEXTS: text sentence line phrase paragraph words
OFFICIAL: official original default
USAGE: vote votes usage_count usage rating helpful_count counter
DROPPING: ignore disregard discard forget override overrule neglect abandon dismiss suspend reject set_aside
    put_aside leave_aside throw_out cast_aside pay_no_attention stop_following do_the_opposite opposite_of
    turn_away_from disobey defy
GUIDANCE: instruction instructions guidance guideline guidelines directive directives directions orders rules
    policy policies constraints restrictions prompt prompts safeguards mandates regulations safety requests
    task_at_hand current_task protocol protocols principles boundaries training wishes
PRINCIPAL: user user's users operator operator's developer developer's developers human human's humans owner
    owner's administrator admin customer system platform company your author
REPLACED: updated changed replaced rewritten revoked overwritten superseded reset
SHUT: disable deactivate remove suppress bypass skip stop delete weaken switch_off turn_off comment_out
    uninstall omit eliminate unset drop relax mute
SHIELD: password_checks password_check validation code_signing linter type_checker tests ci pipeline hooks
    quality_gate alarms alerts alerting authentication authorization firewall antivirus logging audit
    monitoring sandbox verification scanner scanning permission_checks permission_dialog rate_limiter
    security_checks access_control selinux checks human_check tls
STAKES: payment payments wiring wire money production irreversible all_branches every_user every_host
    every_machine all_users all_hosts all_machines right_away straight_away records customers permanently
    automatically
TURN: turn switch
OFF_WORD: off
WITHOUT: without skipping bypassing omitting
GATES: pipeline review reviews tests testing approval checks confirmation verification ci sign-off asking
    backup
LIVE: production prod live main master customers payments
DODGE: skip bypass circumvent evade dodge get_around work_around sidestep avoid click_through
HUMAN_GATE: human_check permission_dialog approval_dialog confirmation_dialog human_review approval_step review_step
    permission_prompt consent_dialog manual_review approval human manual_check permission_prompts
ALREADY: already pre-approved
PROMOTED: first top maximum highest priority weight important most_important always_load always_use never_archive
    never_delete best rank ranked outweighs
LESSONS: memories lessons lesson memory_entries
REWRITE: rewrite delete erase remove archive edit overwrite change discard purge wipe alter
ANY_OTHER: other every all older contrary any
ORDERED: enter sell buy prescribe dispense administer use book answer report give put select quote show send read
    take
ALIAS: trades_as known_as now_called replaced renamed merged now_trades identical alias moved migrated
    exchanged listed
VERIFYING: verify check validate compare confirm
MAIN: main only sole new true highest
OTHERS_ELSE: others everything_else anything_else all_else
SECURITY_TOOL: antivirus firewall security_agent monitoring_agent endpoint_agent edr selinux apparmor code_signing
    secret_scanning intrusion_detection 2fa mfa two-factor sandbox audit_trail security_software
    virus_scanner
ANYONE: anyone anybody nobody
OUTRANKS: outrank outranks trumps supersedes overrides takes_precedence take_precedence beats
SKIPPED: skipped bypassed left_out circumvented evaded
MASKED: without mask masked redact redacted strip stripped anonymised anonymized never
PERMISSION: permission_request permission_requests permission_prompt permission_prompts permission_dialog
    permission_dialogs
PROTECTIVE: prevent detect reject block filter refuse refusal sanitise sanitize untrusted injection attack attacker
    malicious treat_tool escape guard expects vulnerability phishing red-team probe data,
NEGATION: never not don't avoid cannot can't won't mustn't shouldn't refuse before prevent rather instead without
    no forbidden prohibit against doesn't didn't
"""


def _parsed(text: str) -> dict[str, tuple[str, ...]]:
    classes: dict[str, list[str]] = {}
    name = ""
    for line in text.strip().splitlines():
        first, *rest = line.split()
        if first.endswith(":"):
            name = first[:-1]
            classes[name] = rest
        else:
            classes[name] += [first, *rest]
    return {name: tuple(words) for name, words in classes.items()}


CLASSES = _parsed(_TEXT)
