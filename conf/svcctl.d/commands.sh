# shellcheck shell=bash disable=SC2034
#
# The one table of commands and options, from which the command line, --help,
# the manual page and the shell's completion are made.

permissions=apps:manage,audit:view,groups:manage,members:manage
permissions=$permissions,roles:manage,tenant:manage,users:view

# An option: the name of its value (empty for a switch), and its meaning.

declare -A value_of=() meaning=()

option() {
    value_of[$1]=$2
    meaning[$1]=$3
}

option pg           CONNINFO  "libpq's, of the role that owns the database"
option sql          DIR       "the folder of the migrations"
option slug         SLUG      "1 to 63 of a-z, 0-9 and -, no - at either end"
option name         NAME      "how it is shown"
option owner        EMAIL     "the e-mail address of the first owner"
option given        G         "the owner's given name"
option family       F         "the owner's family name"
option env          ""        "prints assignments for a shell"
option email        EMAIL     "the e-mail address of a user"
option base-url     URL       "where the API is: svc_base_url"
option tenant       SLUG      "the tenant, by its slug"
option permissions  LIST      "what the token may do, with commas between"
option expires      TIME      "RFC 3339, as 2030-01-31T00:00:00Z; never unless given"
option id           ID        "the token's, as \"token list\" shows it"
option months       N         "a number of months"
option weeks        N         "a number of weeks"
option days         N         "a number of days"
option kid          KID       "the key's, as \"oauth key list\" shows it"
option file         FILE      "what is read"
option out          PATH      "what is written, or replaced"
option modules      N         "the number of their newest migration"
option from         DIR       "the folder of a backup"
option keys         FILE      "the file of svc_key_file, or - for standard input"
option rehearse     ""        "into a database that is dropped afterwards"
option confirm      SLUG      "the same slug once more"
option now          ""        "without the 24 hours of suspension"
option redis        ADDRESS   "HOST:PORT, or a unix socket's path"
option min-count    N         "leaves out what was seen less often than N times"
option password-stdin ""      "looks up the first line of standard input"
option drop-codes   ""        "deletes recovery codes that need another key than the first"
option passwords    ""        "the file has the hashes of passwords"

# A command: its function and options ("!": required), what it does, an example,
# and on stdin further details, one sentence on each line.  They are not read
# when $brief says that no help is asked for, because bash reads them byte by
# byte.

declare -A commands=() summary=() example=() details=()
order=()

command_is() {
    order+=("$1")
    commands[$1]=$2
    summary[$1]=$3
    example[$1]=$4
    [ -n "${brief:-}" ] || IFS= read -r -d '' "details[$1]" || :
}

command_is "migrate" "migrate sql" \
    "brings the schema up to date" \
    "migrate" <<'TXT'
Run twice it changes nothing.
It makes the role svc_app, and gives it what it lacks of its rights, as after a restore.
It waits up to two minutes for a moment when nobody holds a table.
A schema that is newer than the migrations here is refused.
TXT

command_is "status" "status" \
    "shows the schema's version, and the tenants" \
    "status" <<'TXT'
A tenant's line has its slug, its id, its name, and how many users it has.
TXT

command_is "check" "check_modules modules" \
    "says whether modules work on the schema" \
    "check --modules 37" <<'TXT'
It is for before the restart that brings other modules, newer or older ones.
Without --modules they are those that have come with svcctl; otherwise those whose newest migration has this number.
A schema that is older than modules is migrated first; one that is newer says which modules it serves.
TXT

command_is "backup" "backup out! keys!" \
    "writes a backup of the database" \
    "backup --out svc-backup --keys svc.keys" <<'TXT'
PATH is a folder, new or empty: it gets a dump, and a MANIFEST with the schema's version, the number of rows in each table, the ids of the keys in use, and the SHA-256 of the files.
The keys are not in it: keep their file elsewhere.
It refuses when a key that is in use is not in FILE.
Nobody waits for it, and migrations wait for its end.
TXT

command_is "restore" "restore from! keys! rehearse" \
    "restores a backup into an empty database" \
    "restore --from svc-backup --keys svc.keys --rehearse" <<'TXT'
It checks the files and the keys, makes the role svc_app, restores, compares the number of rows, and migrates.
A backup of an older version is brought up to date.
With --rehearse it does so in a database of its own beside the one that is named, drops it, and writes the time into DIR/backup.ok.
TXT

command_is "tenant create" "tenant_create slug! name! owner! given family env" \
    "makes a tenant, its owner, an API token and a SCIM token" \
    "tenant create --slug acme --name Acme --owner ada@acme.example" <<'TXT'
The tokens are shown this once: only their SHA-256 is stored.
With --env they come as assignments to SVC_ADMIN_TOKEN, SVC_SCIM_TOKEN and others, for a file that only its owner reads.
TXT

command_is "tenant list" "tenant_list" \
    "lists all tenants" \
    "tenant list" <<'TXT'
A line has the slug, the id, the name, and how many users there are.
TXT

command_is "tenant suspend" "tenant_suspend tenant!" \
    "keeps everybody of a tenant from signing in" \
    "tenant suspend --tenant acme" <<'TXT'
Sessions do not count while it is suspended; API and SCIM tokens do.
TXT

command_is "tenant resume" "tenant_resume tenant!" \
    "ends that" \
    "tenant resume --tenant acme" <<'TXT'
Sessions that have not expired count again.
TXT

command_is "tenant delete" "tenant_delete tenant! confirm! now" \
    "deletes a tenant, and all that is of it" \
    "tenant delete --tenant old --confirm old --now" <<'TXT'
It has been suspended for 24 hours, unless --now is given, which suspends it.
Its tokens are revoked first; then go the audit log and all else, up to 5000 rows at a time, and the tenant last.
When it is interrupted, run it again.
Nobody else can have the slug for 30 days.
TXT

command_is "user reset-link" "user_reset_link tenant! email! base-url" \
    "makes a token to set a user's password with" \
    "user reset-link --tenant acme --email ada@acme.example" <<'TXT'
It is shown this once, and good for a day: only its SHA-256 is stored.
POST /v1/auth/password/reset takes it; with --base-url it comes as a link to a page.
TXT

command_is "user unlock" "user_unlock tenant! email!" \
    "lets a user sign in again after too many failures" \
    "user unlock --tenant acme --email ada@acme.example" <<'TXT'
The limits on an address and on a client run on: those of the API's unlock go with it.
TXT

command_is "users import" "users_import tenant! file! passwords!" \
    "gives users the passwords that they had elsewhere" \
    "users import --tenant acme --file users.jsonl --passwords" <<'TXT'
A line of the file is a JSON object in UTF-8, with the members "email" and "passwordHash"; others are not read.
A hash is an argon2id or argon2i string, bcrypt's of $2a$, $2b$ or $2y$, or passlib's of pbkdf2-sha256 or pbkdf2-sha512.
Who has a password keeps it, unless it was imported and nobody has signed in with it.
All lines are imported, or none; a line that is refused is named, and why.
When hashes are not as new ones are, it prints what svc_password_hash is to have for floor.
TXT

command_is "user reset-mfa" "user_reset_mfa tenant! email!" \
    "removes a user's second factors, and ends the sessions" \
    "user reset-mfa --tenant acme --email ada@acme.example" <<'TXT'
For who has lost them, recovery codes too: the next sign-in takes the password alone,
unless the access policy wants a factor; then it begins with adding one.
TXT

command_is "sessions end" "sessions_end tenant!" \
    "ends all sessions of a tenant" \
    "sessions end --tenant acme" <<'TXT'
It counts from the next request on every node.
TXT

command_is "scim-token create" "scim_token_create tenant! name!" \
    "makes one more SCIM token" \
    "scim-token create --tenant acme --name Okta" <<'TXT'
It is shown this once.
Several may be live at a time.
TXT

command_is "token create" "token_create tenant! name! permissions! expires" \
    "makes an API token" \
    "token create --tenant acme --name ci --permissions audit:view,users:view" <<TXT
It is shown this once.
The permissions are ${permissions//,/, }.
TXT

command_is "token list" "token_list tenant!" \
    "lists a tenant's tokens, without their secrets" \
    "token list --tenant acme" <<'TXT'
A line has the id, the kind, how the token begins, its name, whether it is active, expired or revoked, its permissions, and when it was last used.
TXT

command_is "token revoke" "token_revoke tenant! id!" \
    "revokes a token of either kind" \
    "token revoke --tenant acme --id 5d1c0a52-8f0e-4b52-9a7e-3c3f6c1c9d11" <<'TXT'
It counts from the next request on every node.
TXT

command_is "scim-target list" "scim_target_list tenant" \
    "lists where users are pushed to" \
    "scim-target list --tenant acme" <<'TXT'
It is of all tenants unless one is named.
A line has the tenant, the id, whether it is enabled, what came of the last synchronization, how many users there are, the host, the application, and the name.
TXT

command_is "audit partitions" "audit_partitions months" \
    "makes the audit log's partitions" \
    "audit partitions --months 12" <<'TXT'
They are those of this month and of the next N, 12 unless given.
Events that came before their partition are moved into it.
When the log is in use it does nothing and fails: run it every day.
TXT

command_is "audit retain" "audit_retain months!" \
    "drops the audit log's oldest months" \
    "audit retain --months 24" <<'TXT'
What is older than N whole months goes.
When the log is in use it does nothing and fails.
TXT

command_is "oauth key list" "oauth_key_list tenant!" \
    "lists the keys that a tenant's tokens are signed with" \
    "oauth key list --tenant acme" <<'TXT'
A line has the key's kid, its alg, whether it is active, next, retired or revoked, and when it was made.
TXT

command_is "oauth key rotate" "oauth_key_rotate tenant!" \
    "has the keys that sign replaced in a day" \
    "oauth key rotate --tenant acme" <<'TXT'
NGINX makes the next key, which others know for a day before it signs; keys are replaced every 90 days anyway.
A tenant that has an RSA key, too, gets a next one of each.
Run twice it changes nothing.
TXT

command_is "oauth key revoke" "oauth_key_revoke tenant! kid" \
    "withdraws keys that somebody else may have" \
    "oauth key revoke --tenant acme" <<'TXT'
They are those that sign, of ES256 and of RS256, unless --kid names one.
All tokens that they have signed are dead where they are introspected; where they are checked offline they are when the keys are read again.
The next key signs from then on, or one that the tenant's next token makes.
TXT

command_is "oauth partitions" "oauth_partitions weeks" \
    "makes the partitions of OAuth's tokens" \
    "oauth partitions --weeks 2" <<'TXT'
They are those of this week and of the next N, 2 unless given.
Tokens that came before their partition are moved into it.
When they are in use it does nothing and fails: run it every day.
TXT

command_is "oauth retain" "oauth_retain days!" \
    "drops the oldest weeks of OAuth's tokens" \
    "oauth retain --days 30" <<'TXT'
What is older than N days goes by whole weeks.
When it is in use it does nothing and fails.
TXT

command_is "delegations partitions" "delegations_partitions months" \
    "makes the partitions of the journal of delegations" \
    "delegations partitions --months 12" <<'TXT'
They are those of this month and of the next N, 12 unless given.
When the journal is in use it does nothing and fails: run it every day.
TXT

command_is "delegations retain" "delegations_retain months!" \
    "drops the journal's oldest months" \
    "delegations retain --months 24" <<'TXT'
What is older than N whole months goes.
When the journal is in use it does nothing and fails.
TXT

command_is "fence generation" "fence_generation redis!" \
    "lets nodes use a cluster that was restored" \
    "fence generation --redis 127.0.0.1:6379" <<'TXT'
After a restore to a point in the past a cluster may come back on a lower timeline, which nodes refuse.
This begins a new generation in Redis; nodes take it within a second.
Nothing may run any more that is to stay fenced.
A password for Redis is taken from REDISCLI_AUTH.
TXT

command_is "secrets status" "secrets_status keys!" \
    "shows which keys secrets are sealed under" \
    "secrets status --keys svc.keys" <<'TXT'
A line has a key's id, what it is in the file, and how many of what are under it.
The first key "seals", all others "open"; one that is "missing" is not in the file: the exit status is 3 then.
A key with "nothing" may go, once nothing is queued under it.
Recovery codes cannot be made anew: who has some needs their key, or new codes.
TXT

command_is "secrets reseal" "secrets_reseal keys! drop-codes" \
    "seals all secrets under the first key" \
    "secrets reseal --keys svc.keys" <<'TXT'
It goes on under load: a transaction has 1,000 rows, waits for nobody, and leaves alone what has changed.
When it has been ended run it again: what is sealed anew is not touched twice.
The exit status is 3 when something is left under another key.
With --drop-codes recovery codes that the first key does not open are deleted.
It takes the package libcryptx-perl.
TXT

command_is "access-policy reset" "access_policy_reset tenant!" \
    "breaks the glass: a policy that admits everybody" \
    "access-policy reset --tenant acme" <<'TXT'
It is for a tenant whose access policy has locked out those who could change it.
The policy before stays among the versions.
TXT

command_is "federation release" "federation_release tenant!" \
    "breaks the glass: all ways to sign in are open again" \
    "federation release --tenant acme" <<'TXT'
It is for a tenant whose domains have people who must come in by a connection, which fails.
Each domain is released, and the audit log says so.
TXT

command_is "sign-ins import" "sign_ins_import tenant! file!" \
    "imports sign-ins, to simulate access policies with" \
    "sign-ins import --tenant acme --file sign-ins.csv" <<'TXT'
The file is CSV in UTF-8, and begins with the line "at,ip,country,email".
A time is like 2026-11-20T08:15:00Z or 2026-11-20 08:15:00+01, in UTC without an offset.
A country is two letters, or nothing; an e-mail address is that of a user, or nothing.
All lines are imported, or none; those that are there already change nothing.
TXT

command_is "sign-ins retain" "sign_ins_retain days!" \
    "deletes old sign-ins" \
    "sign-ins retain --days 90" <<'TXT'
Those go that are older than N days.
TXT

command_is "breached build" "breached_build out! min-count" \
    "makes a file of breached passwords, for NGINX" \
    "breached build --out breached.bin --min-count 2 < hashes.txt" <<'TXT'
Its lines are "SHA1:COUNT", the SHA-1 of a password and how often it was seen, as Have I Been Pwned's are, ordered by SHA-1.
They are read once, and may be any number; what is out of order is refused.
The file is replaced at the end, in one step: NGINX keeps the old one until its reload.
TXT

command_is "breached check" "breached_check file! password-stdin" \
    "reads a file of breached passwords to its end" \
    "breached check --file breached.bin" <<'TXT'
It has to be complete, in order, and as its SHA-256 says.
With --password-stdin a password is looked up, too: "breached" with the exit status 3, or "not found" with 0.
TXT

command_is "version" "show_version" \
    "shows the version" \
    "version" <<'TXT'
It is also in NGINX's error log, and in the API's description.
TXT

command_is "commands" "show_commands" \
    "lists commands with their options, for the shell" \
    "commands" <<'TXT'
A line has a command and its options; one that takes a value ends with "=".
TXT
