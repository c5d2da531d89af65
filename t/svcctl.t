#!/usr/bin/perl

# svcctl: migrations, tenants and tokens without a running nginx.

use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use POSIX ();
use Test::More;

use SvcTest::Ctl;
use SvcTest::Process qw(run_apart slurp wait_for write_file);

SvcTest::Ctl->each_condition(
    [ 'migrations' => \&migrations ],
    [ 'migrations of old versions' => \&old_versions ],
    [ 'folders of migrations' => \&migration_folders ],
    [ 'tenants' => \&tenants ],
    [ 'tokens' => \&tokens ],
    [ 'access policies and the audit log' => \&others ],
    [ 'a connection that is cut' => \&connection_cut ],
    [ 'a role of another user' => \&another_user ],
);

done_testing();


sub migrations {
    my ($c) = @_;
    my $s = $c->{system};

    is($c->works([ 'migrate' ], 'migrate again'), '', 'nothing is done');

    my $fresh = $c->database('fresh');
    my $n = $c->{database} ? 2 : 4;
    my @pids = map { in_background($c, $_, $fresh, 'migrate') } 1 .. $n;

    for my $pid (@pids) {
        waitpid $pid, 0;
        is($?, 0, "one of $n migrations at once");
    }

    my $applied = join '', map { slurp("$s->{dir}/out.$_") } 1 .. $n;
    my @files = glob $s->root . '/sql/[0-9]*.sql';

    is(scalar(() = $applied =~ /^applied /mg), scalar @files,
       'each migration was applied once');
    like($c->works([ 'status' ], 'status', $fresh),
         qr/\Aschema version @{[ newest($s) ]}\n\z/, 'the version');

    my $newest = newest($s);

    is($c->works([ 'check' ], 'the modules that belong to it', $fresh),
       "modules of version $newest work on the schema, which is of version $newest\n",
       'they work');
    $c->fails([ qw(check --modules 9999) ], qr/.*of version 9999 need that: .*svcctl migrate/,
              'newer modules', $fresh);

    my $later = "$s->{dir}/later";
    my $next = $newest + 1;

    mkdir $later or die $!;
    system('cp', @files, $later) == 0 or die 'cp';
    write_file("$later/9997_later.sql", "-- serves: $next\n");

    my ($out, $rc, $err) = $c->svcctl({ pg => $fresh }, 'migrate', '--sql', $later);

    is("$rc $out", "0 applied 9997 later\n", 'a migration that does not serve those of before');
    like($err, qr/^svcctl: modules older than version $next are not served .* restart NGINX/m,
         'which is said');
    is($c->rows('fresh', 'SELECT serves FROM svc.schema_migration ORDER BY version DESC'
                         . ' LIMIT 1'), "$next\n", 'as the schema says from then on');
    $c->fails([ 'check', '--modules', $newest ],
              qr/.*serves modules of version $next and newer: those of version $newest would/,
              'modules that a schema does not serve', $fresh);
    like($c->works([ 'check', '--modules', $next ], 'the oldest that it does', $fresh),
         qr/\Amodules of version $next work on the schema, which is of version 9997$/, 'work');
    system('rm', '-r', $later) == 0 or die 'rm';

    $c->rows('fresh', "INSERT INTO svc.schema_migration VALUES (9999, 'later')");
    $c->fails([ 'migrate' ], qr/the database is of version 9999.*newer/,
          'a database that is newer', $fresh);

    $c->fails([ 'status' ], qr/.*svcctl migrate/, 'status without a schema',
          $c->database('nothing'));
    $c->fails([ 'status' ], qr/PostgreSQL: .*nowhere/, 'no connection',
          "host=$s->{dir}/nowhere dbname=svc");
    $c->fails([ 'status' ], qr/PostgreSQL: .*"gone"/, 'no database',
          $c->conninfo('gone'));
}


sub newest {
    my ($s) = @_;
    my ($newest) = (glob $s->root . '/sql/[0-9]*.sql')[-1] =~ m{/0*(\d+)_};

    return $newest;
}


sub in_background {
    my ($c, $n, $base, @args) = @_;
    my $s = $c->{system};
    my $pid = fork // die "fork: $!";

    if ($pid == 0) {
        my ($out, $rc) = $c->svcctl({ pg => $base }, @args);
        open my $fh, '>', "$s->{dir}/out.$n" or POSIX::_exit(127);
        print $fh $out;
        close $fh;
        POSIX::_exit($rc);
    }

    return $pid;
}


# Migrates from the first version and from the one before the newest, with data
# in them; t/migrations.t does so from each version.

sub old_versions {
    my ($c) = @_;
    my $s = $c->{system};
    my @files = glob $s->root . '/sql/[0-9]*.sql';

    for my $version (1, $#files) {
        my $dir = "$s->{dir}/sql$version";

        mkdir $dir or die $!;
        system('cp', @files[0 .. $version - 1], $dir) == 0 or die 'cp';
        from_version($c, $version, $dir);
    }
}


sub from_version {
    my ($c, $version, $dir) = @_;
    my $s = $c->{system};
    my $database = "old$version";
    my $old = $c->database($database);
    my @names = map { s{.*/0*(\d+)_(.*)\.sql\z}{applied $1 $2}r }
                glob $s->root . '/sql/[0-9]*.sql';

    is($c->works([ 'migrate', '--sql', $dir ], "version $version", $old),
       join('', map { "$_\n" } @names[0 .. $version - 1]), 'and no other');
    $c->works([ qw(tenant create --slug kept --name Kept --owner ada@kept.test) ],
          'with a tenant', $old);

    # before there were roles, a role existed only in the rows of its users

    my $known = $version >= 7;

    $c->rows($database, 'INSERT INTO svc.user_account (tenant_id, id, user_name,'
         . " role) SELECT id, gen_random_uuid(), i || '\@kept.test',"
         . " 'auditor' FROM svc.tenant, generate_series(1, 2) i") if !$known;

    my $query = 'SELECT t.slug, u.user_name, c.kind, c.permissions'
                . ' FROM svc.tenant t JOIN svc.user_account u ON u.tenant_id ='
                . ' t.id JOIN svc.credential c ON c.tenant_id = t.id'
                . ' ORDER BY 3, 2';
    my $events = 'SELECT id, created_at, action, actor_type, target_type,'
                 . ' target_id, details FROM svc.audit_event ORDER BY id';
    my @before = map { $c->rows($database, $_) } $query, $events;
    my $in_statistics = "SELECT count(*) FROM pg_stats WHERE schemaname = 'svc'"
                        . " AND attname = 'tenant_id'";

    $c->rows($database, 'ANALYZE');

    is($c->works([ 'migrate' ], 'is brought up to date', $old),
       join('', map { "$_\n" } @names[$version .. $#names]), 'and no more');
    is_deeply([ map { $c->rows($database, $_) } $query, $events ], \@before,
              'nothing is lost');
    like($before[0], qr/^kept\|ada\@kept\.test\|api/m, 'of what there was');
    is($c->rows($database, 'SELECT count(*) FROM svc.governance'), "1\n",
       'the tenant has its governance');
    is($c->rows($database, 'SELECT key, name, permissions, member_count FROM svc.role'),
       $known ? '' : "auditor|auditor|{}|2\n", 'and the role that users have');
    is($c->rows($database, $in_statistics), "0\n",
       'the planner knows no tenant any more');
    like($c->works([ 'status' ], 'status', $old),
         qr/\Aschema version @{[ newest($s) ]}\nkept  [0-9a-f-]{36}  Kept  \d users\n\z/,
         'the version');
}


sub migration_folders {
    my ($c) = @_;
    my $s = $c->{system};
    my $base = $c->database('folders');
    my $dir = "$s->{dir}/it's a \"folder\"; \$(id) %s";

    mkdir $dir or die $!;

    my $file = sub {
        my ($name, $text) = @_;
        open my $fh, '>', "$dir/$name" or die "$dir/$name: $!";
        print $fh $text;
        close $fh;
    };

    $c->fails([ 'migrate', '--sql', $dir ], qr/no migrations in /, 'an empty folder',
          $base);
    $c->fails([ 'migrate', '--sql', "$dir/none" ], qr/no migrations in /,
          'no folder', $base);

    $file->('0001_a "b" \'c\'.sql', "CREATE TABLE svc.one (i int);\n"
            . "SELECT 'there';\nSELECT 7;\n");
    $file->($_, "CREATE TABLE svc.foreign ();\n")
        for qw(README 0002_x.sql~ 0002_x.sql.dpkg-new 2_x.sql x_0002_x.sql
               .0002_x.sql);
    is($c->works([ 'migrate', '--sql', $dir ], 'a folder with foreign files', $base),
       "applied 1 a \"b\" 'c'\n", 'which are left alone');
    is($c->works([ 'migrate', '--sql', $dir ], 'again', $base), '', 'nothing');
    is($c->rows('folders', "SELECT version, name, to_regclass('svc.foreign')"
            . " FROM svc.schema_migration"), "1|a \"b\" 'c'|\n", 'its name');

    # a migration that fails leaves nothing behind

    $file->('0002_bad.sql', "CREATE TABLE svc.half (i int);\nSELECT 1/0;\n");
    $c->fails([ 'migrate', '--sql', $dir ], qr/PostgreSQL: .*0002_bad\.sql:2: .*division/,
          'a migration with an error', $base);
    is($c->rows('folders', "SELECT to_regclass('svc.half') IS NULL"), "t\n",
       'its transaction is rolled back');

    $file->('0002_twin.sql', '');
    $c->fails([ 'migrate', '--sql', $dir ], qr/.*more than one migration of the number 2/,
          'a number that is there twice', $base);

    unlink "$dir/0002_twin.sql", "$dir/0002_bad.sql";
    mkdir "$dir/0002_folder.sql" or die $!;
    $c->fails([ 'migrate', '--sql', $dir ], qr/cannot read .*0002_folder/, 'a folder',
          $base);
    rmdir "$dir/0002_folder.sql";
    symlink "$dir/none", "$dir/0002_link.sql" or die $!;
    $c->fails([ 'migrate', '--sql', $dir ], qr/cannot read .*0002_link/,
          'a link to nothing', $base);
}


sub tenants {
    my ($c) = @_;
    my $s = $c->{system};

    # for the requests of this part and of the next one

    $s->nginx->launch;
    $s->wait_healthy or die 'nginx is not healthy: ' . $s->log_tail . "\n";

    my $name = q{O'Hara; \q $(id) `id` "x" :name %s};
    my $text = $c->works([ qw(tenant create --slug globex --name), $name,
                       '--owner', "o'hara\@globex.test", '--given', 'Zoë',
                       '--family', "O'Hara" ], 'tenant create');

    like($text, qr/\A tenant\ +globex\ \ [0-9a-f-]{36}\n
                      owner\ +o'hara\@globex\.test\ \ [0-9a-f-]{36}\n
                      API\ token\ +svc_[\w-]{43}\n
                      SCIM\ token\ +scim_[\w-]{43}\n
                      The\ tokens\ are\ not\ shown\ again\.\n\z/x, 'shows it');

    my ($api) = $text =~ /\b(svc_[\w-]{43})\b/;
    my ($scim) = $text =~ /\b(scim_[\w-]{43})\b/;

    is($s->sql("SELECT name FROM svc.tenant WHERE slug = 'globex'"), $name,
       'the name is stored as it is');
    is($s->sql("SELECT user_name || ' ' || role || ' ' || email_verified"
               . " FROM svc.user_account JOIN svc.tenant t ON t.id = tenant_id"
               . " WHERE slug = 'globex'"),
       "o'hara\@globex.test owner true", 'the owner');
    is($s->sql("SELECT first_name || '|' || last_name || '|' || search"
               . " FROM svc.user_account JOIN svc.tenant t ON t.id = tenant_id"
               . " WHERE slug = 'globex'"),
       "Zoë|O'Hara|" . $s->sql("SELECT svc.user_search('o''hara\@globex.test', NULL, 'Zoë',"
                               . " 'O''Hara')"), 'and the name');

    for ([ $api, 'api', 7, 8 ], [ $scim, 'scim', 1, 9 ]) {
        my ($token, $kind, $grants, $shown) = @$_;

        is($s->sql("SELECT kind || ' ' || cardinality(permissions) || ' ' || prefix"
                   . " FROM svc.credential WHERE encode(token_hash, 'hex') = '"
                   . sha256_hex($token) . "'"),
           "$kind $grants " . substr($token, 0, $shown), "the $kind token's digest");
    }

    is($s->http(GET => '/scim/v2/Users', [ Authorization => "Bearer $scim" ])
       ->json->{totalResults}, 1, 'the SCIM token works');

    is($s->sql("SELECT string_agg(action || ' ' || actor_type, ', ' ORDER BY e.id)"
               . " FROM svc.audit_event e JOIN svc.tenant t ON t.id = tenant_id"
               . " WHERE slug = 'globex'"),
       'user.created system, api_token.created system, scim.token_created system',
       'audit events');

    $c->fails([ qw(tenant create --slug globex --name x --owner a@b) ],
          qr/the slug is taken/, 'a slug that is taken');
    $c->fails([ qw(tenant create --slug -x- --name x --owner a@b) ],
          qr/a slug is/, 'a slug that is none');
    $c->fails([ qw(tenant create --slug a --name), 'x' x 121, qw(--owner a@b) ],
          qr/.*120/, 'a name that is too long');
    is($s->sql("SELECT count(*) FROM svc.tenant WHERE slug = 'a'"), 0,
       'nothing of it was stored');

    environment($c);

    like($c->works([ qw(tenant list) ], 'tenant list'),
         qr/\Aenv  [0-9a-f-]{36}  é  1 users
globex  [0-9a-f-]{36}  \Q$name\E  1 users\n\z/, 'both');
    $s->sql("UPDATE svc.tenant SET name = E'a\\nb\\033[2J\\u009b' WHERE slug = 'env'");
    like($c->works([ qw(tenant list) ], 'a name from before'), qr/^env  \S+  a\?b\?\[2J\?  1 users$/m,
         'is on one line');
}


# --env is for a shell

sub environment {
    my ($c) = @_;
    my $s = $c->{system};
    my $text = $c->works([ qw(tenant create --slug env --name é --owner), q{$(id)'"@b},
                       '--env' ], 'tenant create --env');
    is($s->sql('SELECT count(*) FROM svc.user_account WHERE first_name IS NULL'
               . ' AND last_name IS NULL'), 1, 'an owner without a name');

    my ($tenant, $owner) = @{ ($s->sql(
        'SELECT t.id, u.id FROM svc.tenant t JOIN svc.user_account u ON'
        . " u.tenant_id = t.id WHERE t.slug = 'env'"))[0] };

    like($text, qr/\A SVC_TENANT_SLUG=env\n SVC_TENANT_ID=\Q$tenant\E\n
                      SVC_OWNER_ID=\Q$owner\E\n
                      SVC_ADMIN_TOKEN=svc_[\w-]{43}\n
                      SVC_SCIM_TOKEN=scim_[\w-]{43}\n\z/x, 'five assignments');

    my $file = $s->dir . '/tenant.env';
    open my $fh, '>', $file or die $!;
    print $fh $text;
    close $fh;

    my ($status, $out, $err) = run_apart([ 'sh', '-euc', '. "$1"; set', 'sh', $file ]);
    is($err, '', 'a shell reads it');
    like($out, qr/^SVC_OWNER_ID='?\Q$owner\E'?$/m, 'as it is');
    unlink $file;
}


sub status {
    my ($s, $token) = @_;

    return $s->http(GET => '/scim/v2/ServiceProviderConfig',
                    [ Authorization => "Bearer $token" ])->status;
}


sub tokens {
    my ($c) = @_;
    my $s = $c->{system};
    my $text = $c->works([ qw(scim-token create --tenant globex --name), "it's" ],
                     'one more SCIM token');
    like($text, qr/\A id\ +[0-9a-f-]{36}\ntoken\ +scim_[\w-]{43}\n
                      The\ token\ is\ not\ shown\ again\.\n\z/x, 'is shown');

    my ($token) = $text =~ /\b(scim_[\w-]{43})\b/;
    my ($id) = $text =~ /^id +(\S+)/m;

    is(status($s, $token), 200, 'it works');

    ok((wait_for { $s->sql("SELECT last_used_at FROM svc.credential WHERE id = '$id'") }),
       'which is noted');
    $text = $c->works([ qw(token list --tenant globex) ], 'token list');
    like($text, qr/^$id  scim  scim_....\.\.\.  it's  active  scim  last used \d/m,
         'has it');
    unlike($text, qr/\b(?:svc|scim)_[\w-]{10}/, 'and shows no token');

    for my $time (qw(first second)) {
        is($c->works([ qw(token revoke --tenant globex --id), $id ],
                 "token revoke, the $time time"), "revoked $id\n", 'says so');
    }

    is(status($s, $token), 401, 'it counts from the next request');

    $c->fails([ qw(token revoke --tenant env --id), $id ], qr/tenant "env" has no token/,
          'revoke of another tenant\'s token');
    $c->fails([ qw(token revoke --tenant globex --id), q{x' OR true --} ],
          qr/.*no token/, 'revoke of nothing');
    $c->fails([ qw(scim-token create --tenant nobody --name x) ],
          qr/there is no tenant "nobody"/, 'a SCIM token of no tenant');
    $c->fails([ qw(token create --tenant nobody --name x --permissions audit:view) ],
          qr/there is no tenant "nobody"/, 'a token of no tenant');
    $c->fails([ qw(token list --tenant nobody) ], qr/there is no tenant "nobody"/,
          'the tokens of no tenant');
    $c->fails([ qw(token revoke --tenant nobody --id), $id ], qr/.*no token/,
          'revoke of no tenant');
}


sub others {
    my ($c) = @_;

    like($c->works([ qw(access-policy reset --tenant globex) ], 'access-policy reset'),
         qr/\Aversion \d+ admits everybody; the one before is kept\n\z/, 'its version');
    $c->fails([ qw(access-policy reset --tenant nope) ], qr/there is no tenant "nope"/,
          'a reset of no tenant');
    is($c->works([ qw(federation release --tenant globex) ], 'federation release'),
       "no domain of globex has to be released\n", 'of none');
    $c->fails([ qw(federation release --tenant nope) ], qr/there is no tenant "nope"/,
          'a release of no tenant');

    $c->works([ qw(audit partitions) ], 'audit partitions');
    like($c->works([ qw(audit partitions --months 14) ], 'two months more'),
         qr/\A(?:made audit_event_\d{4}_\d\d\n){2}\z/, 'are made');
    is($c->works([ qw(audit retain --months 1) ], 'audit retain'), '', 'nothing is old');
}


sub connection_cut {
    my ($c) = @_;
    my $s = $c->{system};
    my $create = [ qw(tenant create --slug cut --name x --owner a@b) ];

    $s->sql('CREATE FUNCTION public.cut() RETURNS trigger LANGUAGE plpgsql AS'
            . " 'BEGIN PERFORM pg_terminate_backend(pg_backend_pid());"
            . " RETURN NEW; END'");
    $s->sql("CREATE TRIGGER cut $_ EXECUTE FUNCTION public.cut()"),
        $c->fails($create, qr/the connection was lost; look whether "tenant create"/, $_),
        $s->sql('DROP TRIGGER cut ON svc.credential')
        for 'BEFORE INSERT ON svc.credential FOR EACH ROW';
    is($s->sql("SELECT count(*) FROM svc.tenant WHERE slug = 'cut'"), 0,
       'nothing was stored');
    $c->works($create, 'again');
}


# over the unix socket, as on Debian

sub another_user {
    my ($c) = @_;
    my $pg = $c->{system}->pg;
    my $hba = "$pg->{dir}/pg_hba.conf";
    my $before = slurp($hba);
    my $user = "peer$$";

    $c->{system}->sql("CREATE ROLE $user LOGIN");
    write_file($hba, "local all $user peer\n$before");
    $c->{system}->sql('SELECT pg_reload_conf()');

    my @asked = ({ pg => $pg->conninfo($user) }, 'status');
    my ($out, $rc, $err);

    ok((wait_for {
        ($out, $rc, $err) = $c->svcctl(@asked);
        $rc != 0 && $err =~ /Peer/;
    }), 'is refused');
    is($out, '', 'without output');
    like($err, qr/^svcctl:\ PostgreSQL:\ .*Peer\ authentication\ failed\ for\ user
                  .*\ "sudo\ -u\ postgres\ svcctl\ \.\.\."$/mx, 'with a remedy');

    write_file($hba, $before);
    $c->{system}->sql('SELECT pg_reload_conf()');
    $c->{system}->sql("DROP ROLE $user");
}


