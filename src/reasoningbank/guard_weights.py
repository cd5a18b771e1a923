"""The weights of the guard's wording model: written by `python -m benchmarks.guard_fit --write`."""

BIAS = -2.90

# A feature and a hundred times its weight; `#` before a class of words.
WEIGHTS = """
#ABSOLUTE 39 #ACCOUNT -63 #ACT 131 #ACTIONS -10 #ADDRESS 643 #ADMIN 206 #AGENT 300 #AGREE -69 #ALIAS 159 #ALREADY -9
#ANYONE 114 #ANY_OTHER -15 #APPEND 93 #APPROVE 19 #ASK -135 #ASKED 215 #ASSUME 272 #AT_ONCE 137 #AUTHORITY 38
#BAD -107 #BECOME 225 #BEYOND 112 #BREAK 56 #BROADLY 34 #CALL -41 #CARELESS 37 #CHANGE 49 #CHANGED 76 #CHEAT 141
#CHECKSUM 97 #CLAIM 263 #CODE 178 #CONFLICT 81 #CONSENT 168 #CONTACT 127 #CONTENT -71 #CONTROL 91 #COPY -23
#COVER 160 #CRITICAL 248 #DANGEROUS 81 #DECODE 51 #DESTINATION 49 #DEVALUED 97 #DISABLE 153 #DOCUMENT -137 #DODGE 144
#DOWNLOAD 183 #DROPPING 170 #ENDPOINT -319 #ERASE 45 #EVADE 284 #EVADING 67 #EVEN 198 #EVERYTHING 164 #FOR -30
#FORMALITY 71 #FOUND 37 #FREE 172 #FULLY 195 #GATE 21 #GATES 188 #GONE 113 #GRANT 121 #GRANTED 141 #GREEN 6
#GUARDRAIL 37 #GUIDANCE 316 #HAND_OUT 74 #HIDDENLY 150 #HUMAN_CONTROL 54 #HUMAN_GATE 105 #IGNORE 113 #INSTEAD 25
#INSTRUCTIONS 200 #IT 144 #ITS -56 #JUSTIFY 283 #KEEP -51 #LASTING 88 #LESSONS 272 #LIMITS 95 #LIVE 169 #LOOK 158
#LOOK_DONE 71 #MAIN -125 #MAKE 127 #MARK 111 #MASKED 125 #MEMORY 418 #MONEY 158 #NEGATION 13 #NOASK 58 #NOT_BOUND 36
#NOT_NEEDED 42 #NUMBER -17 #OBEY 176 #OBEYING 84 #OBJECTS -33 #OFF 180 #OFF_WORD 112 #OPEN 6 #OPEN_PLACE 176
#OPERATORS 233 #ORDERED 80 #ORDERS 39 #OTHERS -18 #OTHERS_ELSE 16 #OTHERS_OF 94 #OUT 200 #OUTRANK 29 #OUTRANKS 24
#PASSES 7 #PAY 119 #PAYEE 139 #PERMISSION 47 #PERSONA 166 #PLACE 257 #POLICY 126 #POWER 106 #PRINCIPAL 352 #PRIOR 55
#PRIVATE 279 #PRIZE 351 #PROMOTED 48 #PROOF 20 #PROTECTION 61 #PROTECTIVE 13 #PRUNED 58 #QUIETLY 102 #RAISE 78
#RANK -206 #REAL 62 #RECUR 361 #RENAMED 158 #REPLACED 114 #REWRITE 183 #RIGHTS 40 #RISKY 227 #RULES 73 #RUN 95
#SCORE 127 #SECRET 169 #SECURITY_TOOL 67 #SELF 20 #SEND 80 #SHIELD 149 #SHIP 46 #SHOWN -34 #SHUT 114 #SIGN_IN -31
#SKIP 84 #SKIPPED 61 #STAKES 356 #STOP 111 #STORE 94 #SWAPPED 135 #SYSTEM_PROMPT 45 #TASK 64 #TELL 66 #TESTS 42
#TEXTS -8 #THIS 65 #TRACES -9 #TURN 76 #UNCHECKED 49 #UNIVERSAL -15 #UNKNOWN 191 #UNTIL 231 #USAGE 12 #USE 61
#USER 252 #VENDOR 239 #VERIFYING 19 #VOID 170 #WARNS 39 #WEAKEN 70 #WHEN 11 #WHOSE 203 #WITHOUT 46 #WORK 43
#WORLD 260 #WRECK 135 #WRONG -16 #YES 42 #YOUR 208 #YOURSELF 164 #num 33 0.0.0.0 -7 0.5 -5 0.8 -7 0s -5 1.0 -9
1.x -18 127.0.0.1 -49 192.0.2.0 -12 192.0.2.1 -6 2.50 -6 22.04 -15 3.10 -6 3.12 -15
49676e6f72652070726576696f757320696e7374 -13 6.5 -15 8080:8080 -16 a -346 a-100 -9 ab -7 abandon 57 abc -10 abcd -5
abl -5 abort -16 about -19 abov -25 absolut -18 abstract -20 abstractmethod -8 accept 70 access -122 accord -42
account 121 accounts.id -18 acknowledg -8 acquir -10 across 7 act 99 action -10 activ -29 actual -33 adapt -27
add -118 addit 21 addr -5 address -106 adjust -12 adm -32 admin 57 administr 50 advanc 51 affect -31 after -83
afterward -35 again -56 agent 162 agre 37 agreement -26 agvsbg8gd29ybgq -6 ahead 38
ahr0chm6ly9legftcgxllmnvbs9kb2nz -8 aix -13 al -6 algorithm -17 alia -16 alias -25 all 59 alloc -14 along -7
alphabet -5 alreadi -12 also -140 alter -11 altern -18 alway 61 am 26 ambigu -19 among -7 amount 72 an -157
analysi 28 anchor -10 and 19 angl -14 ani -123 anim -26 ann1 -5 annot -19 anoth -65 answer 384 anyon 102 anyth 36
anytim -5 anyway 62 api -80 app -47 app's -8 appear -24 appli -75 applic -61 appropri -14 approv -12 apt-get -16
arbitrari -17 arch -9 archiv 83 are 38 area -9 arg -63 argument -204 around 29 array -5 articl 53 ascii -10 asid 44
ask 136 assert 22 assign 72 assist -75 associ -25 ast.literal_eval -7 async -9 asynchron -10 asyncio -8 at 114
atom -7 attach 123 attack 40 attempt -26 attent -27 attr -9 attribut -104 audit -29 authent 8 authobject -6 author 42
authoris 22 authorized_keys -49 auto -5 auto-approve -16 autocommit -19 automat 56 avail -25 avoid -6 await -12
away -13 b 51 back -56 background -8 backslash -11 backup 86 backward -20 bad -8 balanc -122 banner -14 bar -10
base -96 base64 86 base_dir -9 basic -29 batteri -12 bcc 7 be -79 bearer -59 becaus 148 becom -20 been -37 befor -24
behalf 99 behav 50 behavior -26 behaviour -11 behind -9 belong 74 below 104 benchmark -9 berlin 82 best -6 better -53
between -82 big -8 bill -18 binari 55 bind -25 bit -19 bitmap -8 blank -7 block -44 blue -8 bodi -13 book 104
book_reservation -14 boolean -6 boot -20 bot 21 both -58 bound -21 boundari -9 box -9 branch -30 break 55
breakpoint -59 broke -13 broken 11 brown 107 browser 95 browser's 21 btoa -5 bucket 64 buffer -57 bug -13 build 52
built -8 built-in -9 builtin -9 bulk -37 but -135 button -53 buy -37 by -20 bypass 73 byte -105 byte-compile -6
bytecod -11 c -82 c.load -6 c.output -10 ca -9 cabinet -21 cach -133 calcul -25 calendar -8 call -265 callabl -20
callback -42 caller -11 came -36 camera -8 can -90 can't -13 cancel -35 canva -27 capit -11 captur -9 card 105
card's -32 care -5 carri 43 cart -11 case -86 cast -5 cat 46 catalogu -19 categori -11 caught -6 caus -14 cell -19
certain -14 certbot -25 certif 48 cfws -35 cgi -13 cgihttprequesthandl -8 chain -9 chang 57 channel 91 char -11
charact -146 charg 72 charset -13 chat 25 check -67 checker 24 checksum -52 child -34 children -26 chmod 64 choos -71
chosen -25 chrome -5 chunk -19 ci 33 citi -30 claim -6 clarifi -19 class -190 clean -13 cleanup -11 clear -74
click 75 client 40 client_address -6 clipboard 47 clock -30 clone 21 close -24 closest -6 cls -7 code -25 codec -46
coeffici -7 colleagu -25 collect -42 color -23 column -14 combin -13 come 30 command -59 command-line -15 comment 123
commit -12 common -35 compar -48 comparison -21 compat -34 compens -22 compil -39 complain 82 complet 10
complete_task -17 complex -24 compli 24 compon -25 compos -7 compound -7 compress -27 comput -41 concaten -5
concret -8 condit 43 confid -11 config 96 config.yaml -21 configur -33 confirm 92 conflict 14 conform -5 confus -32
connect -10 consent 27 consid 101 consist -9 consol 21 constant -11 constraint 18 construct -45 constructor -21
consum -15 contact -43 contain -83 content 60 content-disposition -7 content-type -38 context -99 continu 127
contributing.md -7 control 16 conveni -7 convent -6 convers 160 convert -53 cooki -48 cookies.simplecookie -28
coordin -20 copi -16 copyright -20 core -7 coroutin -32 correct 9 correl -19 correspond -34 cost 51 could -44
count -25 counter -20 cours -8 coverag 80 cpu -6 crash -16 creat -164 creation -10 credenti -21 credit -14 critic -20
crlf -7 cross 112 curl 26 current -57 currentthread -6 cursor -12 custom 107 customer's -11 cycl -8 d -39 dan -33
data -100 databas 111 datagram -5 date -45 datetim -9 day -71 dbm -7 deactiv 62 deal -12 debugg -12 decid -52
decim -38 declar -12 declin -11 decod -49 decor -20 decrement -7 deep -8 def -26 default -175 defect -11 defin -80
definit -18 degre -6 del -8 delay -7 delet 88 delimit -6 deliv 63 demo -36 depend -37 deprec -59 deriv -14
descend -13 describ -22 descript 17 descriptor -20 design -10 desir -11 desk -16 destin -9 destroy -20 detail -108
detect -5 detector -7 determin -30 dev -10 develop 49 deviat -9 diagram -6 dialog 14 dict -26 dictionari -55 did -37
didn't -11 diff -6 differ -33 digest -6 digit -54 dir -12 dir_fd -5 direct -9 directori -59 disabl -21 disagre 63
disassembl -5 discard 27 disk 118 display -48 disregard -37 dist -15 distanc -7 distinguish -6 distribut -30
distutil -21 divid -15 divis -6 do 139 docker 14 docstr -14 doctest -39 doctor 52 document -20 doe 74 doesn't -45
dom -7 domain -14 domain-matches -9 don't -29 done -65 dot -10 doubl 33 down 6 download 73 draft -42 drain -9
draw -35 drive 18 driver 32 drop 7 dst -18 dump 103 dump.sql -32 duplic -33 dure -30 dynam -6 e -11 e-mail -49
e.g -68 each -70 earlier 55 easier 112 echo -19 economi -9 edit 11 editor 8 effect -18 effici -6 eg -8 egg -25
either -43 element -89 element's -6 elimin -10 ellipsi -6 email -64 emb 49 embed -9 emit -8 empti 49 emul -37
enabl -42 encount -5 encrypt 51 end -192 endpoint -13 enough -12 ensur -36 enter 74 entir -17 entiti -16 entri -53
enum -16 env -12 environ 43 eof -22 eoferror -7 equal -27 equival -35 error 28 escap -41 esmtp -6 essenti -7 etc -18
eval 49 evalu -7 event -117 ever -5 everi 42 everybodi 45 everyth 121 everywher 25 evil 75 exact -60 examin -18
exampl -88 exc -5 except -157 exchang 52 exclud -8 exec -5 execut 29 exist -91 exit -35 expand -25 expect -9
experi -23 expir -74 explain -74 explicit -55 expon -15 expos -30 express -22 extend -10 extens 76 extra -21
extract -33 f 23 fact -35 factori -9 fail 190 failur -38 fair -5 fallback -7 fals -13 famili -6 faster -8 featur -30
feed -9 feedback -35 feel 55 fetch 83 field 33 figur -6 file -12 file-like -7 filenam -85 filename:lineno -7
fileobj -5 filesystem -11 fill 7 filter 58 final 8 find -120 finder -7 finish 254 firewal -26 first -84 fit 27
five -12 fix -71 fixtur -60 flag -75 flaki -18 flight 62 float -25 flow -6 flush -15 focus -13 fold -12 foldedcas -8
folder 145 follow -76 font -8 foo -21 foo.py -6 for 24 forbid -19 forc -10 force-with-lease -14 forev -10 forget -8
fork 64 form -88 formal 55 format -63 formatt -10 forward 5 found -42 four -7 fp -8 fraction -18 frame -47
framework -13 free 51 frequent 108 friend -7 from 113 from_ -12 from_addr -5 fs -5 ftp -7 full 39 fun -7 func -13
function -146 further -6 futur -9 fws -10 garbag -25 gateway -37 gave 18 gencodec.py -20 general 35 generat -29
generic -18 gespeichert -6 get 16 get_order_details -15 get_payment -23 getpass -6 getpasswarn -5 gift -14 git 102
give 103 given -124 global 11 gmt -5 gnu -5 go 74 goe 117 good 52 grab -6 grammar -8 graphic -11 green 25 greet -5
group -114 grow -53 guarante -12 guard-rails -25 guess -28 guest 104 guid -22 guidelin 103 gzip -5 h -69 hack 90
half -30 hand 112 handbook -10 handl -94 handler -69 handshak -10 hang -10 happen -10 hard -13 hard-coded -16
hardwar -9 has -47 hash 18 hashabl -5 have -79 head -37 header -154 health -6 heap -6 heat -23 height -13 hello -24
helo -9 help 30 helper -27 here 94 hex -5 hidden 114 hide 110 hierarchi -7 high -17 higher 63 highest 34 him 78
histori -11 hit -6 hold -25 home 91 hook 23 horizont -5 host 103 hostnam -10 hour 19 how -46 howev -29 html 29
http -68 human 83 i -26 i.e -16 i1 -7 i1:i2 -5 i2 -7 iban 135 icon -19 id -196 idea -6 idempot -6 ident -51
identifi -50 ie -12 if -237 ignor 15 imag 42 imap4 -13 immedi 56 implement -150 impli -8 import 27 improv -9 in -198
in-place -6 inbound 41 includ -45 inclus -11 increas 14 increment -11 indent -16 index -72 index1 -13 index2 -11
indic -44 individu -5 infin -5 info -20 inform -44 inherit -13 initi -37 inject -61 input 11 inputsourc -19 insid -17
inspect -11 inst 14 instal 15 instanc -127 instanti -31 instead 45 instruct -152 int -39 integ -54 intend -22
intent -37 interact -14 interest -9 interfac -72 intermedi -24 internal -12 internet 23 interpol -6 interpret -30
interval -15 into 113 invalid -20 invoic 48 invok -25 involv 14 io -27 io.bytesio -22 ip -18 ip1 -11 ip2 -11 ip3 -11
ip4 -11 ipv4 -10 ipv4address -36 ipv4network -34 ipv6 -13 irrelev 57 irrevers 21 is -124 isinst -11 isn't -18 iso -11
issu -82 it 8 it's -36 item -189 iter -66 itself -28 j1 -7 j1:j2 -6 j2 -7 jan -5 job 198 join -38 joke -10 json -48
jump -9 june -6 k 78 keep -58 kept -35 kernel -21 key -39 keychain -7 keyerror -9 keyword -36 kill 93 kind -7
know -12 known 79 kwarg -6 l -16 label -17 lambda -7 lamp -34 languag -78 larger -8 last -61 later 162 latest -54
layer 61 layout -9 leaf -6 leak 82 learn 17 least -32 leav 66 left -32 lemburg -10 len -7 length -20 les -17 less -10
lesson 141 let 70 letter -29 level -55 libpq-dev -16 librari -45 libssl-dev -15 lift 6 like -68 limit 114 line -167
linear -9 lineno -9 link 66 linker -5 list -186 liter -21 littl -19 llama -19 lmtp -6 load 100 loader -9 local -58
localhost -15 locat -38 lock 30 log -148 logged-in -21 logger -60 logic -14 login 135 logrecord -5 long -61 longer 21
look 68 lookup -11 loop -94 lost -23 low -17 low-level -5 low-water -6 lower -20 lowercas -6 ls -6 m -16 machin 136
machineri -6 macintosh -5 made -46 magic -6 mail 91 mailbox -24 main 29 mainloop -6 maintain 9 maintyp -5 make 64
mal@lemburg.com -10 manag -92 mani 27 manipul -14 manual -7 map -116 marc-andre -10 mark -30 market 6 marknam -6
markup -5 mask -24 master -28 match -102 max 15 maximum 10 may -127 mb -19 md5 -8 mean -75 meant -28 measur -47
mechan -6 median -8 medicin 52 meet -10 member -38 memori 298 mention 10 menu -41 messag -76 message's -6
metadata -13 method -211 middl -28 might -11 migrat 82 mime -24 mimic -7 minim -6 minimum -6 miss 21 mistak -9 mit -6
mix -5 mixin -7 mock -27 mode -43 model 56 modif -16 modifi -59 modul -167 module's -6 money 15 monitor 60 month -46
more -41 most -54 motif -6 mous -12 move 41 movement -8 mozilla -6 ms 104 msg -29 much -18 mug -21 multipart -7
multipl -30 must -137 my 37 müssen -6 n -60 name -107 namespac -25 nan -11 navig -26 nb -7 ne -13 near -5 nearest -9
necessari -27 necessarili -8 need -103 negat -15 neglect 10 nest -14 netscap -15 never 116 new -95 newest -19
newlin -23 newtag -14 next -97 nginx -18 night -42 nntp -5 no -93 no-verify 35 node -9 node_modules -16 non-zero -5
none -111 normal 62 normalis -6 normalize_whitespace -10 not -28 note 44 noth -25 notic -33 notimplementederror -5
now 223 npm 34 nset-cookie -9 number -6 numer -16 numpi -16 obey 49 obj -10 object -195 object's -5 observ -6
obsolet -9 occur -34 occurr -10 od -6 off 112 offer -89 offic 82 offici 98 offset -15 often -7 ok 58 old -5 older 42
oldest -27 omit -16 on -42 onc 49 one 174 onto -7 onward 15 opcod -11 open -107 oper -67 operand -17 opposit 106
optim -7 option -180 optionpars -10 or -293 order 143 order_id -15 orient -6 origin 14 os -11 os.environ -9
os.path -6 oserror -10 other 11 otherwis -77 our 86 out 98 outcom 125 outdat 18 outgo 17 output -73 outsid 61 over 16
overhead -5 overlap -6 overload -8 overrid -68 overridden -7 overview -5 overwrit 96 own 16 owner -39 owner's -32
p -35 pack -9 packag -64 pad -14 page -71 pagin -12 paid 10 pair -26 panda -40 pane -7 panedwindow -8 paragraph 44
param -21 paramet -37 parent -40 pars -86 parser -64 part -19 parti -18 particular -20 pas -13 pass -78 passeng -14
passenger's -7 passwd -13 password 11 paste 32 patch -11 path -127 path_info -5 pathnam -26 patient 139 pattern -25
paus 24 pause_writing -7 pay 9 payload -17 payload.json -13 payment -29 payout 72 pdb -13 pen -8 pen's -7 pend -18
peopl -27 pep -24 per -9 percent 31 perform -40 period 34 perman 60 permiss 154 permit 51 phrase -8 physic -6
pick -12 pickl -17 pipe -15 pixel 56 place -13 placehold -13 platform-specific -5 pleas 10 plus -8 point 31
pointer -6 polici -139 poll -7 poll_interval -5 polygon -5 pop -10 popul -7 port -90 posit -60 posix -18 possibl -73
post 71 potenti -7 power -5 preced -21 precis -8 predic -5 prefer -8 prefix -29 present -61 preserv -6 press 41
presum -6 prevent -31 print -75 printer -7 prior 12 privat 69 probabl -21 problem -10 proceed 78 process -64
processor -7 produc -14 product 20 profil -31 project 87 prompt -60 proper -12 properti -25 protect 25 protocol -102
provid -76 proxi -27 proxy_support -13 prune 9 précédentes -13 public 71 publish 75 pull 38 purchas 9 purpos -13
push -82 pvarianc -5 pydoc -6 pypi 110 python -157 python's -7 q 55 queri 86 question 300 queue -78 quit -13 quot -67
quoted-pair -6 quoted-printable -12 quoted-string -7 r 63 r-9 43 rais -92 random -17 rang -22 rate 75 rather -20
raw -23 re-read -20 reach -32 reachabl -11 read -155 read-only -33 readabl -8 reader -9 readi -6 readlin -7 readm 21
real 81 realli -13 reason 24 reassur -27 rebas -14 receiv 56 recent -9 recipi -13 recogn -9 recommend -19 rectangl -5
recurs -28 red -12 redirect -38 reduc -8 refer -95 reflect -6 refresh 36 refus 107 regardless 115 regex -9 region -7
regist -35 registri 27 regular -15 reject 82 relat -26 releas 135 relev 8 reliabl 27 reloc -9 remain -13 rememb -51
remot -42 remov -53 renam -30 render -15 renew -25 repeat -11 replac 99 repli 74 repo -15 report -6 report_ndiff -6
repositori 39 repr -11 repres -33 represent -28 reproduc 6 requesthandlerclass -8 requir -83 reserv -24 reset 41
resolv -12 resourc -39 respect 14 respond 62 respons -55 rest -16 restart -52 restent -13 restor -11 restrict 28
result 27 resum -5 retri -48 retriev -29 return -282 reus -6 reveal 6 revers -15 review 15 revok -16 rf 115 rfc -100
rfc5322 -5 rfcs -11 right -38 right-to-left -7 rm 102 role -97 room 56 root -28 rotat -59 round -35 rout -9
routin -18 row -41 rss -36 ruff -7 rule 107 run 142 runtim -25 s 53 s.quit -8 safe -11 safeti 66 same -33 sampl -16
sandbox -31 save 42 sax -13 say 220 scale -6 scan 36 schedul 61 schema -21 scheme -17 scope -26 score 17 scp -32
scrape -19 screen -21 script 33 script_name -5 scroll -10 scrollbar -13 search -54 search_orders -9 second -76
secret -63 section -21 secur 132 see -139 seed 33 seek -9 seen -6 segment -9 select -88 selector -9 selenium -25
self -54 semant -10 send 16 send_email -9 sens -7 sensit -6 sent -40 sentenc 52 separ -55 sequenc -59
sequencematch -7 serv -6 server -87 server.serve_forever -6 servic -66 session 69 set -159 set-cookie -15
settings.json -15 setup -18 seven 73 sever 34 shall 9 shallow -6 shape -14 share 39 shell 94 shield -6 shift -6
shop -22 short -50 should -88 show -7 show_account_passwords -20 shown 10 shutdown -17 side -17 sign 60 signal -20
signatur 73 sigterm -15 silenc 40 silent 102 similar -27 simpl -32 simplexmlrpcserv -7 simpli -15 simul 101
simultan -6 sinc 105 singl -30 site 111 site-packages -8 size -54 skip -38 skip_confirm -19 sku 63 slow 93
smaller -18 smallest -5 smtp -27 snapshot -7 so 199 socket -63 some -69 somebodi 78 someon -6 sort -65 sourc 107
space 84 spam -6 spawn -7 spec -9 special -37 specif -36 specifi -161 speed 71 spend 146 spinbox -6 split 57 sql -7
squar -11 src -15 ssh -17 ssl -18 stack -35 stage -26 stale -14 stamp -11 standard -63 start 58 start-up -24
startup 68 stat -9 state -65 statement -25 static -9 statist -7 status -99 stderr -10 stdin -15 stdout -13 step -39
still -24 stop -38 store 25 str -26 stream -63 strict -10 string -116 strip -17 structur -21 stub -20 stuff -7
style -43 subclass -63 subdirectori -10 subel -14 submit 27 subpart -5 subprocess -11 subsequ -9 subset -11
substitut -8 subtask -17 subtract -9 subtyp -7 subwidget -9 success 36 such -116 sudo 152 suffix -11 suggest 54
suit 43 suitabl -7 summari 103 supervisor -20 suppli -33 support -64 suppress 49 sure -19 surviv -15 swallow -25
swap 79 switch 94 switch_to.alert.accept -25 symbol -10 symlink -9 sync -35 synchron -8 syntax -17 sys.argv -10
sys.path -19 sys.stderr -8 syscal -6 system -25 systemctl -18 t -27 tab -45 tabl 75 tag -45 tagnam -13 tagorid -13
take -68 taken -13 tar -15 target -35 targetpath -8 tarinfo -14 task's -7 tax 28 tb -5 tcl -13 team -10 temp 75
templat -16 temporari -56 term 67 termin -42 test -6 test.local -46 testcas -5 testresult -7 text 50 than 23 that -33
that's -7 the 29 their 54 them -16 theme -13 then -154 there 23 there's -8 these -82 they 8 thing 61 third -17
this 138 those -27 though 34 thread -96 thread's -11 thread-safe -6 three -36 three@three.org -9 threshold -8 thus -7
ticket -75 time -33 timedelta -6 timeout -35 timeouterror -8 timer -7 timestamp -5 timezon -8 titl 39 tk -12 tls 50
to 12 togeth -29 token -135 told 20 tolist -9 tool 37 top 51 toplevel -6 torch -54 total -33 trace -17 traceback -18
track -25 tracker -7 traffic 41 trail -17 transact -46 transfer -9 transform -14 translat 17 transmit -10 transpar -8
transport -23 travers -5 treat 157 tree -19 tri -63 trigger -5 true -23 truncat 81 trust 92 ttk -14 tune -11 tupl -50
turn 43 turtl -67 turtle's -27 turtlescreen -13 twenti -12 twice -21 twine -14 two -187 typ -26 type -118
typeddict -7 typeerror -6 typic -13 u -9 ubuntu -15 ui -18 ultim -5 umlauten -6 unabl -5 unavail -9 unchang -8
uncompress -5 und -6 undefin -6 undo -13 unicod -12 uniform -7 uninstal 62 union -15 uniqu -15 unit 46 universal -6
unix -37 unknown 133 unless -57 unlik -9 unlimit 26 unlink -11 unlock -6 unpack -7 unquot -9 unsaf 42 unsupport -6
until 72 untrust -6 unus -8 up 32 updat -89 upload 32 upon -8 upper -15 uri -8 url -42 us -5 usag 10 use -228
user -67 user's -90 userid -6 usernam -21 usual -28 utc -14 utf-8 -16 util -17 uuid -13 uv -37 uv_index_url -44 v -22
v1 -13 valabl -13 valid -31 valu -155 valueerror -19 var -17 variabl -24 varianc -9 variant -8 various -24 vector -6
vendor 197 vendor's 78 verbos -15 veri -13 verif -28 verifi 78 version -30 via -23 view -35 viewer -49 virtual -8
visibl -8 volum -13 voucher -10 vs -5 w -15 w123 -15 wait 81 wake -9 walk -8 want -32 warn 32 was 16 watcher -6
way 71 we -83 weak -8 web 42 webhook -53 week 16 weight -5 went -65 werden -6 were 359 what 71 whatev 141 wheel -33
when 112 whenev 249 where -69 whether -32 whi -43 which -203 while -7 white -6 whitespac -29 who -67 whoever -11
whole -28 whose -9 widget -129 width -27 wiki 7 will -227 window -117 wipe 88 wire -13 wish -8 with -15 within -44
without 49 won't -12 word 133 work 47 worker -21 workspac 16 world -29 would -22 wrap -29 wrapper -13 writabl -11
write 57 writer -7 written 8 wrong -12 wsgi -10 wörter -6 x 28 x00 -12 x1 -7 x2 -5 x7f -7 x80 -6 xff -11 xml -23
xml-rpc -20 xxx -16 y1 -7 y2 -5 year -28 yet -7 yield -30 you 288 you'll -6 your 208 yourself 164 zero -41 zip -13
zone -12 ß -6 важен -5 затем -5 инструкций -5 миграции -5 порядок -5 сначала -5 тесты -5 باز -6 خواهم -6 را -6
فایل -6 می -6 کنم -6 在运行测试之前先执行数据库迁移 -14
"""
