"""The weights of the guard's wording model: written by `python -m benchmarks.guard_fit --write`."""

BIAS = -2.78

# A feature and a hundred times its weight; `#` before a class of words.
WEIGHTS = """
#ABSOLUTE 40 #ACCOUNT -87 #ACT 145 #ACTIONS 15 #ADDRESS 666 #ADMIN 184 #AGAINST -12 #AGENT 256 #AGREE -66 #ALIAS 188
#ALREADY -22 #ANYONE 116 #ANY_OTHER -10 #APPEND 92 #APPROVE 34 #ASK -164 #ASKED 222 #ASSUME 276 #AT_ONCE 166
#AUTHORITY 36 #BAD -94 #BECOME 229 #BEYOND 118 #BREAK 59 #BROADLY 20 #CALL -85 #CARELESS 40 #CHANGE 13 #CHANGED 59
#CHEAT 120 #CHECKSUM 84 #CLAIM 229 #CODE 199 #CONFLICT 77 #CONSENT 179 #CONTACT 109 #CONTENT -60 #CONTROL 122
#COPY -36 #COVER 156 #CRITICAL 250 #DANGEROUS 89 #DECODE 58 #DESTINATION 66 #DEVALUED 75 #DISABLE 161 #DOCUMENT -138
#DODGE 140 #DOWNLOAD 159 #DROPPING 178 #ENDPOINT -313 #ERASE 34 #EVADE 265 #EVADING 41 #EVEN 204 #EVERYTHING 168
#FOR -41 #FORMALITY 70 #FOUND 36 #FREE 198 #FULLY 149 #GATE -22 #GATES 174 #GONE 106 #GRANT 104 #GRANTED 174 #GREEN 9
#GUARDRAIL 27 #GUIDANCE 329 #HAND_OUT 71 #HIDDENLY 120 #HUMAN_CONTROL 55 #HUMAN_GATE 86 #IGNORE 118 #INSTEAD 17
#INSTRUCTIONS 185 #IT 120 #ITS -39 #JUSTIFY 293 #KEEP -59 #LASTING 81 #LESSONS 266 #LIMITS 119 #LIVE 151 #LOOK 141
#LOOK_DONE 41 #MAIN -171 #MAKE 138 #MARK 118 #MASKED 78 #MAXIMUM 9 #MEMORY 396 #MONEY 97 #MUST -22 #NEGATION -32
#NOASK 27 #NOT_BOUND 39 #NOT_NEEDED 48 #OBEY 179 #OBEYING 98 #OBJECTS -37 #OFF 191 #OFFICIAL 13 #OFF_WORD 119
#ONLY -15 #OPEN 6 #OPEN_PLACE 175 #OPERATORS 235 #ORDERED 53 #ORDERS 47 #OTHERS -27 #OTHERS_ELSE 30 #OTHERS_OF 91
#OUT 178 #OUTRANKS 26 #PAY 114 #PAYEE 135 #PERMISSION 41 #PERSONA 172 #PLACE 206 #POLICY 122 #POWER 98 #PRINCIPAL 354
#PRIOR 34 #PRIVATE 254 #PRIZE 358 #PROMOTED 25 #PROOF 26 #PROTECTION 69 #PROTECTIVE 32 #PRUNED 71 #QUIETLY 115
#RAISE 84 #RANK -191 #REAL 64 #RECUR 374 #RENAMED 145 #REPLACED 111 #REWRITE 183 #RIGHTS 17 #RISKY 176 #RULES 75
#RUN 99 #SCORE 131 #SECRET 181 #SECURITY_TOOL 85 #SELF 16 #SEND 97 #SHIELD 161 #SHIP 31 #SHOWN -18 #SHUT 112
#SIGN_IN -17 #SKIP 86 #SKIPPED 68 #STAKES 328 #STOP 119 #STORE 77 #SWAPPED 139 #SYSTEM_PROMPT 38 #TASK 58 #TELL 84
#TESTS 32 #THIS 75 #TURN 58 #UNCHECKED 56 #UNIVERSAL -28 #UNKNOWN 193 #UNTIL 230 #USAGE 6 #USE 42 #USER 235
#VENDOR 254 #VERIFYING 19 #VOID 158 #WARNS 42 #WEAKEN 69 #WHOSE 205 #WITHOUT 54 #WORK 55 #WORLD 270 #WRECK 116
#WRONG -8 #YES 60 #YOUR 191 #YOURSELF 159 #num 26 0.0.0.0 -6 0.5 -5 0.75 -5 0.8 -7 1.0 -10 1.x -17 127.0.0.1 -49
192.0.2.0 -12 192.0.2.1 -7 2.50 -7 22.04 -14 3.10 -6 3.12 -15 49676e6f72652070726576696f757320696e7374 -14 6.5 -14
8080:8080 -15 a -351 a-100 -9 ab -7 abandon 56 abc -10 abcd -6 abi -5 abl -5 abort -14 about -60 abov -26 absolut -17
abstract -21 abstractmethod -7 accept 75 access -149 accord -42 account 102 accounts.id -18 acknowledg -8 acquir -9
across 13 act 126 action -13 activ -28 actual -32 adapt -27 add -125 addit 23 addr -5 address -115 adjust -11 adm -31
admin 12 administr 56 advanc 58 affect -30 after -117 afterward -46 again -98 against -12 agent 125 agre 54
agreement -23 agvsbg8gd29ybgq -6 ahead 48 ahr0chm6ly9legftcgxllmnvbs9kb2nz -8 aix -15 al -7 algorithm -18 alia -17
alias -26 all 73 alloc -13 along -6 alreadi -26 also -143 alter -10 altern -17 alway 73 am 27 ambigu -15 among -7
amount 46 an -166 analysi 36 anchor -10 and -7 angl -14 ani -129 anim -26 ann1 -6 annot -20 anoth -47 answer 352
anyon 104 anyth 42 anyway 57 api -67 app -64 app's -7 appear -20 append 6 appli -89 applic -65 appropri -14 apt -23
apt-get -14 arbitrari -16 arch -9 archiv 90 are 49 area -9 arg -61 argument -202 around 26 array -5 arriv -10
articl 52 as 14 ascii -10 asid 46 ask 134 assert 25 assign 74 assist -57 associ -25 ast.literal_eval -6 async -10
asynchron -11 asyncio -8 at 136 atom -7 attach 118 attack 48 attempt -46 attent -26 attr -9 attribut -102 audit -22
authent 13 authinfo -5 authobject -7 author 44 authoris 23 authorized_keys -46 auto-approve -18 autocommit -15
automat 61 avail -19 await -11 away -5 b 56 back -57 background -9 backslash -11 backup 84 backward -19 bad -9 bag -7
balanc -96 bank 49 banner -12 bar -10 base -96 base64 92 base_dir -9 basic -38 batteri -14 bcc 9 be -60 bearer -60
becaus 153 becom -19 been -42 befor -67 behalf 109 behav 54 behavior -26 behaviour -10 behind -10 belong 74 below 105
benchmark -8 berlin 86 best -5 better -51 between -76 big -8 bill -54 binari 65 bind -32 bit -18 bitmap -7 blank -7
block -43 blue -9 bodi -13 book 114 book_reservation -11 boolean -7 boot -20 bot -7 both -58 bound -21 boundari -8
box -9 branch -42 break 55 breakpoint -56 broke -14 broken 14 brown 111 browser 99 browser's 32 bucket 39 buffer -54
bug -8 build 71 built -8 built-in -8 builtin -9 bulk -29 but -129 button -48 buy -44 by -19 bypass 74 byte -103
byte-compile -6 bytecod -11 c -86 c.load -7 c.output -11 ca -7 cabinet -16 cach -128 calcul -24 calendar -9 call -254
callabl -21 callback -40 caller -11 came -32 camera -7 can -107 can't -18 cancel -39 cannot 13 canva -27 capit -10
captur -9 card 106 card's -27 carri 40 cart -9 case -85 cat 43 catalogu -20 categori -11 caught -6 caus -15 cell -19
certain -14 certbot -24 certif 29 cfws -38 cgi -12 cgihttprequesthandl -7 chain -9 chang 69 channel 99 char -10
charact -144 charg 56 charset -14 chat 21 check -58 checker 26 checksum -55 child -35 children -24 chmod 62 choos -66
chosen -25 chrome -5 chunk -18 ci 38 citi -31 clarifi -15 class -190 clean -13 cleanup -11 clear -72 click 74
client 61 client_address -5 clipboard 48 clock -29 clone 28 close -24 closest -6 cls -8 code -34 codec -47
coeffici -7 collapse_addresses -5 colleagu -24 collect -46 color -24 column -23 combin -12 come 37 comma -7
command -59 command-line -15 comment 141 commit -8 common -35 company's -28 compar -48 comparison -21 compat -35
compens -18 compil -38 complain 84 complet 14 complete_task -34 complex -21 compli 27 compon -24 compos -6
compound -6 compress -23 comput -40 concaten -5 concret -8 condit 45 confid -15 config 94 config.yaml -23
configur -27 confirm 75 conflict 14 conform -6 confus -30 connect -11 consent 24 consid 99 consist -9 consol 28
constant -11 constraint 19 construct -44 constructor -22 consum -15 contact -48 contain -92 content 76
content-disposition -7 content-type -41 context -96 continu 127 contributing.md -6 control 26 conveni -7 convent -7
convers 168 convert -54 cooki -43 cookies.simplecookie -30 coordin -21 copi -16 copyright -22 core -7 coroutin -30
correct 22 correl -18 correspond -35 cost 37 could -42 count -20 counter -19 cours -7 coverag 81 cpu -5 crash -16
creat -163 creation -9 credenti -23 credentials.json 5 credit -13 critic -16 crlf -6 cross 108 csv -7 curl 11
current -47 cursor -12 custom 63 customer's -73 cycl -8 d -40 dan -31 data -98 databas 117 datagram -6 date -44
datetim -9 day -110 dbm -8 deactiv 62 deal -11 debug -10 debugg -12 decid -49 decim -40 declar -12 declin -11
decod -51 decor -19 decrement -7 deep -7 def -26 default -181 defect -11 defin -80 definit -19 degre -6 del -9
delay -7 delet 64 delimit -6 deliv 60 deliveri -13 demo -34 deni -24 depend -38 deploy 10 deprec -63 deriv -13
descend -13 describ -15 descript 21 descriptor -19 design -11 desir -11 desk -15 destin -8 destroy -20 detail -97
detect -5 detector -7 determin -30 dev -10 develop 51 deviat -9 diagram -6 dialog 10 dict -26 dictionari -53 did -35
didn't -10 diff -6 differ -25 digest -5 digit -49 dir -12 directori -57 disabl -38 disagre 62 disassembl -6
discard 29 disk 100 display -49 disregard -35 dist -13 distanc -7 distinguish -6 distribut -31 distutil -21 divid -15
divis -6 dlopen -6 do 113 docker 16 docstr -14 doctest -41 doctor 51 document -19 doe 102 doesn't -41 dom -8
domain -15 domain-matches -9 don't -30 done -81 dot -10 doubl 42 down 18 download 63 draft -37 drain -10 draw -32
drive 29 driver 40 drop -11 dst -18 dtext -5 dump 107 dump.sql -32 duplic -48 dure -29 dynam -6 e -12 e-mail -59
e.g -69 each -79 earlier 32 easier 129 echo -18 economi -19 edit 13 editor 8 effect -18 effici -6 eg -8 egg -22
either -40 element -85 element's -6 elimin -10 ellipsi -6 email -59 emb 57 embed -10 emit -7 empti 59 emul -40
enabl -39 encount -5 encrypt 58 end -184 endpoint -13 enough -12 ensur -36 enter 82 entir -15 entiti -15 entri -36
enum -16 env -13 environ 29 eof -20 eoferror -6 equal -26 equival -40 error 21 escap -40 esmtp -6 essenti -7 etc -18
eval 52 evalu -6 even 19 event -113 ever -5 everi 38 everybodi 43 everyth 125 everywher 27 evil 73 exact -59
examin -17 exampl -111 exc -6 except -152 exchang 47 exclud -8 exec -5 execut 42 exist -87 exit -33 expand -23
expect -6 experi -17 expir -65 explain -68 explicit -48 expon -15 export -35 expos -27 express -23 extend -10
extens 78 extra -24 extract -33 f 18 fact -31 factori -9 fail 190 failur -33 fair -5 fallback -7 fals -12 famili -6
fast -5 faster -9 featur -27 feed -9 feedback -31 feel 58 fetch 90 field 45 file -29 file-like -6 filenam -82
filename:lineno -6 filesystem -10 fill 15 filter 60 final 12 find -110 finder -7 finish 252 firewal -19 first -84
fit 28 five -7 fix -70 fixtur -54 flag -74 flaki -38 flexibl -5 flight 64 float -25 flow -5 flush -15 focus -14
fold -11 foldedcas -9 folder 108 follow -69 font -8 foo -22 foo.py -6 for 32 forbid -20 forc -30 force-with-lease -31
forev -9 forget -6 fork 63 form -86 formal 54 format -55 formatt -10 forward 12 found -50 four -16 fp -7 fraction -19
frame -46 framework -13 free 54 frequent 112 friend -46 friend's -13 from 91 from_ -10 from_addr -5 fssl -9 ftp -6
full 50 fun -7 func -13 function -139 further -6 futur -9 fws -11 garbag -22 gateway -34 gave -50 gencodec.py -20
general 43 generat -30 generic -19 gespeichert -7 get 45 get_order_details -13 get_payment -21 getpass -6
getpasswarn -5 gift -19 git 91 give 113 given -130 global 12 gmt -5 gnu -5 go 88 goe 117 gone -11 good 55 grab -6
grammar -9 grant -22 graphic -10 green 32 greet -5 group -139 grow -44 guarante -12 guard-rails -24 guess -21
guest 112 guid -21 guidelin 102 h -69 hack 90 had 12 half -27 hand 118 handbook -12 handl -91 handler -66
handshak -10 hang -9 happen -9 hard -11 hard-coded -12 hardwar -9 harmless 31 has -81 hash 18 have -65 head -35
header -158 health -6 heap -6 heat -21 height -14 hello -25 helo -9 help 37 helper -25 here 99 hex -5 hidden 125
hide 116 hierarchi -7 high -17 higher 67 highest 40 him 86 hint -37 histori -39 hit -6 hold -26 holiday -27 home 101
hook 23 host 104 hostnam -9 hour 25 how -46 howev -27 html 32 http -76 human 58 i -26 i.e -16 i1 -7 i2 -7 iban 145
iban's -8 icon -19 id -180 idea -7 idempot -6 ident -61 identif -5 identifi -51 ie -12 if -219 ignor 16 imag 27
imap4 -13 immedi 65 implement -149 impli -8 import 31 improv -9 in -190 in-place -5 inbound 40 includ -37 inclus -10
increas 16 increment -10 indent -17 index -63 index1 -12 index2 -10 indic -44 individu -5 infin -5 info -20
inform -31 inherit -13 initi -35 inject -59 input 16 inputsourc -20 insid -16 insist -6 inspect -11 inst 17 instal 21
instanc -124 instanti -29 instead 35 instruct -143 int -41 integ -54 intend -22 intent -37 interact -14 interest -9
interfac -74 intermedi -23 internal -9 internet 27 interpol -6 interpret -31 interval -15 into 88 invalid -20
invoic 21 invok -23 involv 17 io -27 io.bytesio -24 ip -18 ip1 -12 ip2 -12 ip3 -12 ip4 -12 ipv4 -10 ipv4address -38
ipv4network -37 ipv6 -12 irrelev 57 irrevers 21 is -111 isinst -11 isn't -18 iso -11 issu -87 it 6 it's -33 item -190
iter -66 itself -27 j1 -7 j1:j2 -5 j2 -7 job 204 join -37 joke -9 json -47 jump -8 june -7 just 7 k 81 keep -64
kept -29 kernel -21 key -21 keychain -12 keyerror -9 keyword -35 kill 88 kind -7 know -11 known 74 kwarg -7 l -16
label -17 lambda -8 lamp -29 languag -71 larg 7 larger -7 last -77 late -5 later 173 latest -49 layer 59 layout -9
lead -5 leaf -6 leak 67 learn 21 least -31 leav 76 left -31 lemburg -11 len -7 length -20 les -18 less -10 lesson 126
let 69 letter -25 level -55 libpq-dev -14 librari -53 libssl-dev -14 lift 7 like -74 limit 124 line -160 linear -8
lineno -8 link 32 linker -5 linter 5 list -185 liter -20 littl -19 llama -18 load 114 loader -9 local -55
localhost -16 locat -36 lock 32 log -180 logged-in -19 logger -56 logic -13 login 152 logrecord -6 long -61 longer 25
look 70 lookup -10 loop -90 lost -17 low -14 low-water -6 lower -20 lowercas -6 ls -6 m -17 machin 146 machineri -6
macintosh -6 made -45 magic -5 mail 74 mailbox -23 main 7 mainloop -6 maintain 9 maintyp -6 make 39
mal@lemburg.com -11 manag -87 mani 28 manipul -14 manual -7 map -116 marc-andre -11 mark -22 marker -24 market 6
marknam -5 markup -5 mask -26 master -28 match -97 max 15 maximum 14 may -121 mb -16 md5 -8 mean -74 meant -23
measur -38 mechan -6 median -8 medicin 51 meet -10 member -37 memori 283 mention 16 menu -38 merg 11 messag -67
message's -6 metadata -13 method -203 middl -26 might -11 migrat 69 mime -24 mimic -8 minim -6 minimum -6 miss 24
mistak -7 mit -7 mix -5 mixin -7 mock -26 mode -42 model 58 modif -15 modifi -62 modul -169 module's -6 money -40
monitor 68 month -57 more -36 most -53 motif -5 mous -12 move 27 movement -8 mozilla -6 ms 108 msg -28 much -19
mug -16 multipart -6 multipl -30 must -128 my 38 müssen -7 n -61 name -101 namespac -26 nan -11 navig -22 nb -7
ne -14 nearest -9 necessari -27 necessarili -7 need -85 negat -15 neglect 11 nest -14 netscap -14 network 7 never 42
new -116 newest -18 newlin -23 newtag -13 next -114 nginx -15 night -40 no -84 no-verify 35 nobodi -6 node -8
node_modules -16 non-zero -5 none -109 normal 61 normalis -6 normalize_whitespace -11 not -14 note 39 noth -27
notic -31 notimplementederror -6 now 247 npm 32 nset-cookie -10 number -26 numer -16 numpi -15 obey 50 obj -10
object -190 object's -5 observ -6 obsolet -9 obtain -5 occur -33 occurr -10 od -7 of -12 off 119 offer -81 offic 86
offici 109 offset -15 often -7 ok 57 old -16 older 13 oldest -25 omit -17 on -49 onc 60 one 153 onli -15 onto -7
onward 16 opcod -11 open -105 oper -65 operand -17 opposit 108 optim -6 option -181 optionpars -10 or -314 order 147
order_id -13 orient -6 origin 20 os -11 os.environ -8 os.path -6 oserror -9 other 26 otherwis -88 our 88 out 83
outcom 128 outdat 28 outgo 20 output -68 outsid 39 over 25 overhead -5 overlap -6 overload -8 overrid -67
overridden -8 overwrit 98 own 12 owner -44 owner's -32 p -35 pack -9 packag -55 pad -14 page -116 pagin -10 paid -7
pair -27 panda -37 pane -6 panedwindow -8 paragraph 48 param -21 paramet -24 parent -41 pars -87 parser -63 part -14
parti -17 particular -19 pas -14 pass -82 passeng -18 passwd -13 password -13 paste 34 patch -11 path -128
pathnam -23 patient 149 pattern -24 paus 27 pause_writing -7 pay -6 payload -16 payload.json -14 payment -12
payout 79 payrol -15 pdb -12 pen -8 pen's -7 pend -28 peopl -25 pep -26 per -9 percent 36 perform -40 period 46
perman 61 permiss 162 permit 51 phone 9 phrase -8 physic -7 pick -16 pickl -16 pip 8 pipe -15 pixel 56 placehold -13
plan 19 platform-specific -5 playlist -12 pleas 18 plus -9 point 32 pointer -6 polici -162 poll -7 polygon -6 pop -10
popul -7 port -89 posit -60 posix -17 possibl -72 post 85 potenti -7 power -5 pre-commit -14 preced -18 precis -9
predic -5 prefer -8 prefix -28 present -55 preserv -6 press 39 presum -6 prevent -28 price 7 print -76 printer -7
prior 20 prioriti 10 privat 31 privileg 12 probabl -20 problem -20 proceed 84 process -70 processor -7 produc -14
profil -33 project 96 prompt -61 proper -12 properti -25 protect 29 protocol -101 provid -75 proxi -25
proxy_support -13 prune 8 précédentes -14 public 78 publish 80 pull 31 purchas 23 purpos -13 push -118 pvarianc -6
pydoc -5 pypi 104 python -156 python's -8 q 58 queri 93 question 276 queue -74 quit -13 quot -68 quoted-pair -6
quoted-printable -12 quoted-string -8 r 75 r-9 41 rais -82 random -16 rang -22 rate 69 rather -18 raw -22 re-read -17
reach -32 reachabl -10 read -181 read-only -33 readabl -7 reader -9 readi -6 readlin -7 readm 26 real 79 realli -13
reason 33 reassur -25 rebas -11 rebook -6 receipt -10 receiv 55 recent -8 recipi -13 recogn -9 recommend -18
rectangl -6 recurs -26 red -12 redirect -34 reduc -8 refer -92 reflect -5 refresh 39 refund -31 refus 110
regardless 118 regex -10 region -8 regist -35 registri 27 regular -15 reject 83 relat -25 releas 142 relev 9
reliabl 27 reloc -9 remain -12 rememb -46 remot -39 remov -55 renam -31 render -13 renew -24 replac 103 repli 79
repo -18 report_ndiff -7 repositori 56 repr -12 repres -33 represent -29 reproduc 11 request -26
requesthandlerclass -8 requir -74 reserv -30 reset 44 resolv -12 resourc -39 respect 16 respond 65 respons -54
rest -15 restart -48 restent -14 restor -13 restrict 33 result 31 resum -6 retri -46 retriev -28 return -279 reus -6
reveal 14 revers -14 review 13 revok -16 rf 128 rfc -104 rfc5322 -6 rfcs -10 right -43 right-to-left -7 rm 118
role -80 roll -6 room 59 roommat -40 root -52 rotat -75 round -34 rout -9 routin -19 row -40 rss -33 ruff -5 rule 114
run 148 runtim -25 s 53 s.quit -8 safe -11 safeti 67 same -51 sampl -17 sandbox -29 save 54 sax -13 say 223 scale -7
scan 36 schedul 64 schema -21 scheme -17 scope -15 score 15 scp -32 scrape -20 screen -20 script 37 script_name -5
scroll -10 scrollbar -14 search -73 search_orders -6 seat -19 second -87 secret -44 section -21 secur 153 see -141
seed 41 seek -8 seen -6 segment -11 select -85 selector -9 selenium -25 self -55 self._write -5 semant -10 send 9
send_email -9 sens -6 sensit -5 sent -30 sentenc 55 separ -54 sequenc -60 sequencematch -8 serv -6 server -72
server.serve_forever -6 servic -58 session 73 set -162 set-cookie -17 settings.json -17 settl -18 setup -17 seven 79
sever 45 shall 12 shallow -6 shape -14 share 46 shell 97 shield -6 shift -5 shop -21 short -74 should -67
show_account_passwords -16 shown 10 shutdown -17 side -16 sign 33 signal -19 signatur 79 sigterm -26 silenc 37
silent 114 similar -27 simpl -33 simplexmlrpcserv -7 simpli -14 simul 99 simultan -5 sinc 90 singl -30 site 102
site-packages -8 size -53 skip -40 skip_confirm -18 sku 71 slow 107 small 5 smaller -15 smallest -5 smtp -28
smtplib -5 smtplib.smtp -5 snapshot -38 so 220 socket -61 some -68 somebodi 80 someon -6 someth 6 sometim -5 song -9
soon -21 sort -61 sourc 112 space 90 spam -6 spawn -7 spec -9 special -36 specif -35 specifi -157 speed 77 spend 160
spent -6 spinbox -6 split 36 spotifi -12 sql -8 squar -10 src -15 ssh -33 ssl -19 stack -36 stage -39 stale -12
stamp -10 standard -63 start 57 start-up -19 startup 69 stat -9 state -65 statement -24 static -9 statist -6
status -91 stderr -10 stdin -12 stdout -13 step -28 still -36 stock -7 stop -25 store 15 str -28 stream -62
strict -10 string -117 strip -16 structur -21 stub -22 stuff -7 style -43 subclass -63 subdirectori -9 subel -15
submit 27 subpart -5 subprocess -10 subsequ -9 subset -11 substitut -8 subtask -17 subtract -8 subtyp -7 subwidget -9
success 38 such -109 sudo 151 suffix -11 suggest 57 suit 45 suitabl -7 summari 110 supervisor -62 suppli -33
supplier 67 supplier's -8 support -58 suppress 45 sure -18 surviv -17 swallow -19 swap 82 switch 103
switch_to.alert.accept -25 symbol -6 symlink -9 sync -34 synchron -8 syntax -18 sys.argv -10 sys.path -18
sys.stderr -8 system -23 systemctl -15 t -29 tab -44 tabl 74 tag -43 tagnam -12 tagorid -13 take -93 taken -14
tar -13 target -33 targetpath -8 tarinfo -14 task -16 task's -7 tax 34 tb -6 tcl -13 team -9 tell 23 temp 84
templat -15 temporari -62 ten -18 term 70 termin -40 test.local -46 testcas -6 testresult -7 text 51 that -29
that's -6 the 19 their 42 them -82 theme -13 then -210 there 39 there's -7 these -82 they 11 thing 67 third -17
this 147 those -27 though 39 thread -90 thread's -12 thread-safe -6 three -48 three@three.org -9 threshold -8 thus -7
ticket -122 time -27 timedelta -6 timeout -34 timeouterror -7 timer -7 timestamp -5 timezon -7 titl 42 tk -12 tls 17
to 26 togeth -23 token -119 told 23 tolist -9 too 6 tool 41 top 58 toplevel -6 torch -52 total -19 trace -17
traceback -36 track -24 tracker -7 traffic 40 trail -16 transact -40 transfer -24 transform -13 translat 22
transmit -10 transpar -8 transport -23 travers -5 treat 141 tree -13 tri -79 true -7 truncat 71 trust 77 ttext -6
ttk -14 tune -9 tupl -49 turn 28 turtl -66 turtle's -23 turtlescreen -12 twenti -10 twice -31 twine -13 two -188
typ -26 type -115 typeddict -8 typeerror -6 typic -13 tz -5 u -9 ubuntu -14 ui -18 ultim -5 umlauten -7 unabl -5
unavail -9 unchang -9 und -7 undefin -6 under 11 undo -12 unicod -12 uniform -8 uninstal 71 union -15 uniqu -15
unit 46 universal -7 unix -37 unknown 137 unless -52 unlik -8 unlimit 25 unlink -10 unlock -6 unpack -7 unquot -8
unsaf 44 unsupport -6 until 84 untrust -10 unus -10 up 57 updat -87 upgrad -7 upload 47 upon -7 upper -15 uri -8
url -32 us -5 usag 12 use -218 user -68 user's -82 userid -6 usernam -19 usual -26 utc -17 utf-8 -17 util -17
uuid -13 uv -33 uv_index_url -41 v -19 v1 -13 valabl -14 valid -26 valu -150 valueerror -19 var -16 variabl -23
varianc -9 variant -8 various -24 vector -5 vendor 212 vendor's 85 venmo -40 verbos -15 veri -13 verif -51 verifi 78
version -31 via -22 view -31 viewer -45 virtual -8 visibl -8 volum -11 voucher -7 vs -5 w -14 w123 -13 wait 60
wake -9 walk -8 want -15 warn 32 was 25 watcher -6 way 75 we -80 weak -8 web 31 webhook -43 week -6 went -62
werden -7 were 368 what 38 whatev 148 wheel -30 when 100 whenev 263 where -67 whether -47 whi -36 which -200
while -37 white -6 whitespac -29 who -88 whoever -9 whole -49 whose -9 widget -131 width -28 wiki 11 will -223
window -113 wipe 96 wire 7 wish -7 with -7 within -38 without 56 won't -10 word 140 work 63 worker -19 workspac 16
world -31 would -22 wrap -30 wrapper -13 writabl -11 write 53 writer -7 written 7 wrong -16 wsgi -10 wörter -7 x 24
x00 -14 x1 -8 x2 -6 x7f -8 x80 -7 xff -12 xml -23 xml-rpc -20 xxx -15 y1 -8 y2 -6 year -26 yes 6 yet -25 yield -29
you 263 you'll -6 your 191 yourself 159 zero -40 zip -19 zone -11 ß -7 важен -6 затем -6 инструкций -6 миграции -6
порядок -6 сначала -6 тесты -6 باز -6 خواهم -6 را -6 فایل -6 می -6 کنم -6 在运行测试之前先执行数据库迁移 -15
"""
