# long: three tables, each read as a whole
"""Secrets that a command, a call or a sentence gives away; and commands, calls and sentences without any."""

from __future__ import annotations

import pytest

from reasoningbank.screening.scrub import REDACTED, scrub

PASSWORDS = ("Blauer7Himmel", "Zw3ig!mbx2")

ON_A_LINE = r"""
htpasswd -b -c /srv/f.htpasswd admin '{}'
htpasswd -c -b -B -C 12 users.txt bob {}
redis-server /etc/redis.conf --requirepass {}
echo "requirepass {}" >> redis.conf
valkey-cli -u redis://:{}@h
redis-cli --user app --pass {}
keytool -list -keystore k.jks -storepass {}
keytool -importkeystore -srcstorepass {} -deststorepass {}
keytool -storepasswd -new {} -storepass {}
openssl pkcs12 -in x.p12 -passin pass:{} -nodes
openssl enc -d -k {} -in f
openssl passwd -6 {}
mysqladmin -uroot password '{}'
mariadb-dump -h db -u a -p{} x
ALTER ROLE app PASSWORD '{}'
CREATE ROLE app LOGIN ENCRYPTED PASSWORD '{}'
curl -su ada:{} https://h/x
curl --basic --user ada:{} h
curl -sSL -H 'PRIVATE-TOKEN: {}' https://gl/api
ldapwhoami -x -D cn=a -w {}
ldapadd -x -w{} -D cn=a -f f
ldappasswd -D cn=a -w {} -s {} uid=b
sshpass -p {} rsync -a a b:
mongo -u a -p {} --host h
mongoexport -u a -p{} -c c
mongosh "mongodb://a:{}@h/d"
az login -u ada@x.example -p {}
az vm create -n v --admin-username a --admin-password {}
az keyvault secret set --vault-name v --name n --value {}
az webapp deployment user set --user-name a --password {}
aws iam create-login-profile --user-name a --password {}
aws rds modify-db-instance --db-instance-identifier d --master-user-password {}
aws secretsmanager create-secret --name n --secret-string '{}'
aws ssm put-parameter --type SecureString --name /a --value {}
gcloud sql users create a --instance i --password {}
echo -n "{}" | gcloud secrets create s --data-file=-
echo {} | sudo -S apt update
printf '{}' | passwd --stdin ada
echo "root:{}" | sudo chpasswd
useradd -p {} ada
ssh-keygen -t rsa -f k -N '{}'
ssh-keygen -p -P {} -N {} -f k
smbclient -U 'DOM\ada%{}' //h/s
mount -t cifs -o user=ada,pass={} //h/s /m
nmcli device wifi connect N password {}
wpa_passphrase N {} > w.conf
wpa_cli set_network 0 psk '"{}"'
rabbitmqctl add_user svc {}
mosquitto_sub -u a -P {} -t x
mosquitto_passwd -b /etc/p a {}
cqlsh -u a -p {}
xfreerdp /u:a /p:{} /v:h
rdesktop -u a -p {} h
net user ada {} /add
net use X: \\h\s /user:ada {}
net use X: \\h\s {} /user:ada
schtasks /create /ru a /rp {} /tr c
psexec \\h -u a -p {} c
wmic /node:h /user:a /password:{} os
cmdkey /add:h /user:a /pass:{}
snmpget -v3 -u a -l authPriv -a SHA -A {} -x AES -X {} h o
zip -er -P {} o.zip d
unzip -P {} o.zip
7z a -p{} o.7z d
rar a -hp{} o.rar d
pdftk i.pdf output o.pdf owner_pw {} user_pw {}
qpdf --encrypt {} {} 256 -- i.pdf o.pdf
gpg --passphrase {} -c f
docker login -u a -p{} r.example
docker login r.example --username a --password {}
kubectl create secret generic s --from-literal=api-key={}
kubectl config set-credentials a --password={}
oc login -u a -p {} h
vault kv put secret/x value=otter80-Kq password={}
svn co --username a --password {} u
git clone https://a:{}@h/r
lftp -u ada,{} sftp://h
ncftpput -u a -p {} h / f
sqlcmd -S h -U a -P {}
bcp t out f -U a -P {} -S h
isql DSN ada {}
sqlplus system/{}@//h/o
expdp scott/{} schemas=s
rman target sys/{}@o
influx -username a -password {}
elasticsearch-users useradd a -p {}
curl -XPOST h/_security/user/a -d '{{"password":"{}"}}'
ipmitool -H h -U a -P {}
racadm -r h -u root -p {} getsysinfo
nxc smb h -u a -p {}
wget --http-user=a --http-password={} u
aria2c --http-passwd={} u
http -a ada:{} u
ansible all -m ping --extra-vars "ansible_password={}"
terraform apply -var db_password={}
terraform apply -var="admin_pass={}"
TF_VAR_db_password={} terraform plan
helm install x c --set auth.password={}
helm upgrade x c --set auth.rootPassword={},auth.user=a
docker run -e POSTGRES_PASSWORD={} postgres
docker build --build-arg NPM_TOKEN={} .
heroku config:set SECRET_KEY={}
flyctl secrets set STRIPE_KEY={}
gh secret set TOKEN --body {}
gh secret set TOKEN -b"{}"
npm config set //r/:_authToken {}
poetry config http-basic.r a {}
twine upload -u a -p {} d/*
composer config http-basic.h a {}
mvn deploy -Drepo.password={}
java -Djavax.net.ssl.keyStorePassword={} -jar a.jar
gradle -PsigningPassword={} build
rclone obscure {}
rclone config create r sftp host h user a pass {}
veracrypt -t -p {} v.hc
echo -n {} | cryptsetup luksOpen /dev/sda2 c -
""".strip().splitlines()

IN_A_CALL = r"""
SET PASSWORD FOR 'a'@'%' = PASSWORD('{}')
db.createUser({{user:"a", pwd:"{}", roles:[]}})
db.changeUserPassword("a", "{}")
requests.get(u, auth=("ada", "{}"))
HTTPDigestAuth('ada', '{}')
paramiko: client.connect(h, username="a", password="{}")
smtp.login("ada@x.example", "{}")
imap.login('ada', '{}')
new PasswordCredential("ada", "{}")
DriverManager.getConnection(url, "ada", "{}")
cy.get('[name=password]').type('{}')
driver.find_element(By.ID, "password").send_keys("{}")
await page.getByLabel('Password').fill('{}')
""".strip().splitlines()

SAID = r"""
pw is {}
the db pw is {} now
his pw was: {}
smbpasswd: rpcclient -U ada%{} h
jdbc:mysql://h/d?user=a&password={}
jdbc:sqlserver://h;user=a;password={};
Data Source=h;User ID=a;Password={};Pooling=false
Driver={{ODBC Driver 18}};Server=h;UID=a;PWD={}
click [pw], type {} into the password box, press enter
I typed {} as password and got in
Enter "{}" in the field Password
We rotated the password from {} to {}
The old password was {}, the new one is {}
it used to be password {}
password hint aside, it's {}
ok so log in with ada and {}
login: ada, password: {}
ada's password = {}
Passwort von ada ist {}
Mit dem Passwort {} kommt man hinein
Benutzer ada, Kennwort {}
Utilisez le mot de passe {} pour vous connecter
Le code d'accès est {}
Usa la contraseña {} para entrar
La clave secreta es {}
Use a senha {} para entrar
Gebruik wachtwoord {} om in te loggen
Użyj hasła {} do logowania
Войдите с паролем {}
请用密码 {} 登录
パスワード「{}」でログインします
비밀번호 {} 로 로그인하세요
पासवर्ड {} है
Şifre {} ile giriş yapın
استخدم كلمة المرور {}
ansible_become_password: {}
wrangler: echo {} | wrangler secret put TOKEN
restic: export RESTIC_PASSWORD={}
duplicity: PASSPHRASE={} duplicity a b
kinit: echo {} | kinit ada@X
""".strip().splitlines()


@pytest.mark.parametrize("text", [*ON_A_LINE, *IN_A_CALL, *SAID])
def test_the_secret_goes_and_the_rest_stays(text: str) -> None:
    for password in PASSWORDS:
        given = text.format(*[password] * text.count("{}"))

        assert password not in scrub(given).text
        assert scrub(given).text.replace(REDACTED, "") == given.replace(password, "")


@pytest.mark.parametrize("option", ["-passout pass:wood 2", "--ks-pass pass:wood", "-passin 'pass:two words'"])
def test_any_word_is_a_secret_where_only_one_can_stand(option: str) -> None:
    said = scrub(f"openssl genrsa -aes256 {option}").text

    assert "wood" not in said
    assert "words" not in said


@pytest.mark.parametrize("text", ["The PIN of the card is 8841", "Meine PIN lautet 8841", "pin code: 8841"])
def test_the_number_of_a_card_is_dropped(text: str) -> None:
    assert "8841" not in scrub(text).text


CLEAN = r"""
htpasswd -c /srv/f admin prompts for it twice
keytool -list -keystore k.jks -storetype PKCS12
openssl x509 -in c.pem -noout -text
openssl rsa -in k.pem -check
openssl enc -aes-256-cbc -pbkdf2 -in a -out b -pass file:/run/p
openssl s_client -connect h:443 -key k.pem
mysqladmin -u root -p status
mysql -u root -p
mysqldump --port=3306 shop
curl -s https://h/x -o out.json
curl -u ada https://h/
ldapsearch -x -b dc=x -s sub uid=ada
ldapsearch -x -y /etc/ldap.secret -b dc=x
mongosh --port 27017 --username a -p
redis-cli -n 3 -a $REDISCLI_AUTH ping
az vm create -n v --image Ubuntu2204 --size Standard_B1s
az keyvault secret show --vault-name v --name n
aws ssm get-parameter --name /a --with-decryption
aws s3 cp a s3://b --profile prod
gcloud sql users list --instance i
ssh-keygen -t ed25519 -C ada@x.example -f k
ssh-keygen -R host
smbclient -L //h -N
rabbitmqctl list_users
mosquitto_pub -p 8883 -t a/b -m hello
xfreerdp /v:h /u:ada asks for it
net user ada /active:yes
net use X: \\h\s /persistent:yes
snmpwalk -v 2c -O n h 1.3.6
zip -r -P is insecure, use gpg
unzip -p a.zip f.txt
7z l a.7z
qpdf --linearize i.pdf o.pdf
docker login r.example -u a --password-stdin
kubectl create secret tls t --cert=c.pem --key=k.pem
kubectl create secret generic s --from-file=f
vault kv get secret/x
lftp -e 'mirror d' sftp://h
sqlcmd -S h -E -Q q
isql -v DSN
sqlplus / as sysdba
terraform apply -var-file=prod.tfvars -var region=eu-1
helm install x c --set image.tag=1.2.3
docker run -e POSTGRES_USER=a -p 5432:5432 postgres
gh secret list
npm config set registry https://r/
poetry config virtualenvs.in-project true
twine upload d/*
java -Djavax.net.ssl.keyStore=/etc/k.jks -jar a.jar
rclone copy a b
echo hello | base64
echo "$PASS" | docker login -u a --password-stdin
printf '%s' "$PW" | passwd --stdin ada
rsync -avz -e ssh a b
cp -p a b
mkdir -p a/b2c/d3
tar -p -xf a.tar
ps -u root
id -u ada
sort -u f1.txt
grep -w word1 f
wc -w file1
ls -a dir1
git commit -a -m x
python -u script1.py
The PIN code is asked for at each start
Pin the version to 4.1.7
pin 4417 of the connector is ground
The secret to good tests is small units
The key is to be brief
password must have 8 characters
The password policy requires 12 characters
The new password is the same as the old one
the password field accepts 64 characters
Type your name into the password-protected form
log in with your account and wait 30 seconds
login with SSO2 fails
Das Passwort ist zu kurz
Der Schlüssel ist 2048 Bit lang
Mit dem Passwort kommt man hinein
Le mot de passe est trop court
Utilisez le mot de passe habituel
La contraseña debe tener 8 caracteres
Usa la contraseña correcta
La password è troppo corta
A senha deve ter 8 caracteres
Het wachtwoord is te kort
Hasło jest za krótkie
Пароль должен содержать 8 символов
Войдите с паролем от почты
密码长度为8位
请输入密码
パスワードは8文字以上です
パスワードを入力してください
비밀번호는 8자 이상입니다
Şifre 8 karakter olmalı
tokens per second is 42.5
the token endpoint is /oauth2/token
token_type: bearer, expires_in: 3600
the cache key is user:42:profile
key=value pairs
foreign key constraint fk_orders_2 failed
auth=("$USER", "$PASS")
smtp.login(user, password)
client.connect(host, username=user, password=pw)
cy.get('[name=email]').type('ada@x.example')
page.fill("#search", "shoes 42")
send_keys("hello123")
DriverManager.getConnection(url, user, pass)
""".strip().splitlines()


@pytest.mark.parametrize("text", CLEAN)
def test_what_only_looks_like_one_stays(text: str) -> None:
    assert scrub(text).text == text
