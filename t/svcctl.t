#!/usr/bin/perl

# svcctl: migrations, tenants and tokens without a running nginx.  All of it
# under each of the conditions in which psql has more to say than what it was
# asked.

use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use POSIX ();
use Test::More;

use SvcTest;
use SvcTest::Process qw(run_apart run_user slurp);

my ($s, $condition, $ctl, $pg);

my @conditions = (
    { name => 'an ordinary session', warning => qr/\A\z/ },
    { name => 'another user in a folder that it may not enter',
      warning => qr/\A\z/, command => \&in_locked_folder },
    { name => 'a collation of another version', database => \&other_collation,
      warning => qr/\AWARNING: [^\n]*collation version/ },
);

my @needed = qw(psql sha256sum basenc head openssl);      # programs

my @parts = (
    [ 'migrations' => \&migrations ],
    [ 'migrations of every version' => \&old_versions ],
    [ 'folders of migrations' => \&migration_folders ],
    [ 'tenants' => \&tenants ],
    [ 'owners and names' => \&owners_and_names ],
    [ 'tokens' => \&tokens ],
    [ 'expiry' => \&expiry ],
    [ 'permissions' => \&permissions ],
    [ 'the command line' => \&command_line ],
    [ 'access policies and the audit log' => \&others ],
    [ 'sign-ins' => \&sign_ins ],
    [ 'programs that are missing' => \&programs ],
    [ 'a connection that is cut' => \&connection_cut ],
);

for my $each (@conditions) {
    $condition = $each;

    subtest $condition->{name} => sub {
        set_up();
        subtest @$_ for @parts;
        $s->done;
    };
}

done_testing();


# A copy, which every user may enter, as the checkout may not be.

sub set_up {
    $s = SvcTest->new(redis => 0)->start;

    my $root = $s->root;
    my $copy = $s->dir . '/copy';

    mkdir $copy, 0755 or die "$copy: $!";
    system('cp', '-r', "$root/conf", "$root/sql", $copy) == 0 or die 'cp';

    $ctl = "$copy/conf/svcctl";
    $pg = conninfo('svc');
    $condition->{database}->('svc') if $condition->{database};
}


# --- conditions --------------------------------------------------------------

# Root opens all folders: the servers' user is sent there.  Another user closes
# the folder behind itself.

sub in_locked_folder {
    my ($command, %opt) = @_;
    my $folder = $s->dir . '/locked';

    mkdir $folder;
    chmod 0700, $folder or die "$folder: $!";

    return ($command, %opt, user => run_user(), cwd => $folder) if $> == 0;
    return ([ 'sh', '-c', 'chmod 0 . && exec "$@"', 'sh', @$command ], %opt,
            cwd => $folder);
}


# As after an upgrade of the system's libraries.

sub other_collation {
    $s->sql("UPDATE pg_database SET datcollversion = '1' WHERE datname = '$_[0]'");
}


# --- svcctl and what it left -------------------------------------------------

sub conninfo {
    my ($database) = @_;

    return $s->pg->conninfo('postgres') =~ s/dbname=\S+/dbname=$database/r;
}


# A new database with a collation that has a version.

sub database {
    my ($name) = @_;

    $s->sql("CREATE DATABASE $name TEMPLATE template0 LOCALE_PROVIDER icu"
            . " ICU_LOCALE 'und'");
    $condition->{database}->($name) if $condition->{database};

    return conninfo($name);
}


# Rows of a database, as lines.

sub rows {
    my ($database, $query) = @_;
    my $rows = $s->pg->connect('postgres', $database)->query($query);

    return join '', map { join('|', map { $_ // '' } @$_) . "\n" } @$rows;
}


# Output, exit status and errors.

sub svcctl {
    my ($base, @args) = @_;
    my %opt = ref $args[0] eq 'HASH' ? %{ shift @args } : ();
    my $command = [ $ctl, defined $base ? ('--pg', $base) : (), @args ];

    ($command, %opt) = $condition->{command}->($command, %opt)
        if $condition->{command} && !$opt{cwd};

    my ($status, $out, $err) = run_apart($command, timeout => 120, %opt);

    return ($out, $status >> 8 || $status, $err);
}


# Its output, with nothing but the condition's warning beside it, once.

sub works {
    my ($args, $name, $base) = @_;
    my ($out, $rc, $err) = svcctl($base // $pg, @$args);

    is($rc, 0, $name) or diag($err);
    like($err, $condition->{warning}, "$name: warnings are the operator's");
    is(() = $err =~ /collation version/g, $condition->{database} ? 1 : 0,
       "$name: once") if $err !~ /HINT/;
    $s->secret($out =~ /\b((?:svc|scim)_[\w-]{43})/g);

    return $out;
}


sub fails {
    my ($args, $message, $name, $base) = @_;
    my ($out, $rc, $err) = svcctl($base // $pg, @$args);

    isnt($rc, 0, "$name fails");
    is($out, '', "$name shows nothing");
    like($err, qr/^svcctl: $message/m, "$name says why");
    unlike($err, qr/\b(?:svc|scim)_[\w-]{43}/, "$name shows no token");
    unlike($err, qr/svcctl: line \d+: /, "$name is no fault of the script");
}


# --- migrations --------------------------------------------------------------

sub migrations {
    is(works([ 'migrate' ], 'migrate again'), '', 'nothing is done');

    my $fresh = database('fresh');
    my @pids = map { in_background($_, $fresh, 'migrate') } 1 .. 4;

    for my $pid (@pids) {
        waitpid $pid, 0;
        is($?, 0, 'one of four migrations at once');
    }

    my $applied = join '', map { slurp("$s->{dir}/out.$_") } 1 .. 4;
    my @files = glob $s->root . '/sql/[0-9]*.sql';

    is(scalar(() = $applied =~ /^applied /mg), scalar @files,
       'each migration was applied once');
    like(works([ 'status' ], 'status', $fresh),
         qr/\Aschema version @{[ newest() ]}\n\z/, 'the version');

    rows('fresh', "INSERT INTO svc.schema_migration VALUES (9999, 'later')");
    fails([ 'migrate' ], qr/the database is of version 9999.*newer/,
          'a database that is newer', $fresh);

    fails([ 'status' ], qr/.*svcctl migrate/, 'status without a schema',
          database('nothing'));
    fails([ 'status' ], qr/PostgreSQL: .*nowhere/, 'no connection',
          "host=$s->{dir}/nowhere dbname=svc");
    fails([ 'status' ], qr/PostgreSQL: .*"gone"/, 'no database',
          conninfo('gone'));
}


sub newest {
    my ($newest) = (glob $s->root . '/sql/[0-9]*.sql')[-1] =~ m{/0*(\d+)_};

    return $newest;
}


sub in_background {
    my ($n, $base, @args) = @_;
    my $pid = fork // die "fork: $!";

    if ($pid == 0) {
        my ($out, $rc) = svcctl($base, @args);
        open my $fh, '>', "$s->{dir}/out.$n" or POSIX::_exit(127);
        print $fh $out;
        close $fh;
        POSIX::_exit($rc);
    }

    return $pid;
}


# from each version, with data in it, to the newest

sub old_versions {
    my @files = glob $s->root . '/sql/[0-9]*.sql';

    for my $version (1 .. $#files) {
        my $dir = "$s->{dir}/sql$version";

        mkdir $dir or die $!;
        system('cp', @files[0 .. $version - 1], $dir) == 0 or die 'cp';
        from_version($version, $dir, database("old$version"));
    }
}


sub from_version {
    my ($version, $dir, $old) = @_;
    my $database = "old$version";
    my @names = map { s{.*/0*(\d+)_(.*)\.sql\z}{applied $1 $2}r }
                glob $s->root . '/sql/[0-9]*.sql';

    is(works([ 'migrate', '--sql', $dir ], "version $version", $old),
       join('', map { "$_\n" } @names[0 .. $version - 1]), 'and no other');
    works([ qw(tenant create --slug kept --name Kept --owner ada@kept.test) ],
          'with a tenant', $old);

    # a role that only its users' rows know, before there were roles

    my $known = $version >= 7;

    rows($database, 'INSERT INTO svc.user_account (tenant_id, id, user_name,'
         . " role) SELECT id, gen_random_uuid(), i || '\@kept.test',"
         . " 'auditor' FROM svc.tenant, generate_series(1, 2) i") if !$known;

    my $query = 'SELECT t.slug, u.user_name, c.kind, c.permissions'
                . ' FROM svc.tenant t JOIN svc.user_account u ON u.tenant_id ='
                . ' t.id JOIN svc.credential c ON c.tenant_id = t.id'
                . ' ORDER BY 3, 2';
    my $events = 'SELECT id, created_at, action, actor_type, target_type,'
                 . ' target_id, details FROM svc.audit_event ORDER BY id';
    my @before = map { rows($database, $_) } $query, $events;
    my $in_statistics = "SELECT count(*) FROM pg_stats WHERE schemaname = 'svc'"
                        . " AND attname = 'tenant_id'";

    rows($database, 'ANALYZE');

    is(works([ 'migrate' ], 'is brought up to date', $old),
       join('', map { "$_\n" } @names[$version .. $#names]), 'and no more');
    is_deeply([ map { rows($database, $_) } $query, $events ], \@before,
              'nothing is lost');
    like($before[0], qr/^kept\|ada\@kept\.test\|api/m, 'of what there was');
    is(rows($database, 'SELECT count(*) FROM svc.governance'), "1\n",
       'the tenant has its governance');
    is(rows($database, 'SELECT key, name, permissions, member_count FROM svc.role'),
       $known ? '' : "auditor|auditor|{}|2\n", 'and the role that users have');
    is(rows($database, $in_statistics), "0\n",
       'the planner knows no tenant any more');
    like(works([ 'status' ], 'status', $old),
         qr/\Aschema version @{[ newest() ]}\nkept  [0-9a-f-]{36}  Kept  \d users\n\z/,
         'the version');
}


sub migration_folders {
    my $base = database('folders');
    my $dir = "$s->{dir}/it's a \"folder\"; \$(id) %s";

    mkdir $dir or die $!;

    my $file = sub {
        my ($name, $text) = @_;
        open my $fh, '>', "$dir/$name" or die "$dir/$name: $!";
        print $fh $text;
        close $fh;
    };

    fails([ 'migrate', '--sql', $dir ], qr/no migrations in /, 'an empty folder',
          $base);
    fails([ 'migrate', '--sql', "$dir/none" ], qr/no migrations in /,
          'no folder', $base);

    $file->('0001_a "b" \'c\'.sql', "CREATE TABLE svc.one (i int);\n"
            . "SELECT 'there';\nSELECT 7;\n");
    $file->($_, "CREATE TABLE svc.foreign ();\n")
        for qw(README 0002_x.sql~ 0002_x.sql.dpkg-new 2_x.sql x_0002_x.sql
               .0002_x.sql);
    is(works([ 'migrate', '--sql', $dir ], 'a folder with foreign files', $base),
       "applied 1 a \"b\" 'c'\n", 'which are left alone');
    is(works([ 'migrate', '--sql', $dir ], 'again', $base), '', 'nothing');
    is(rows('folders', "SELECT version, name, to_regclass('svc.foreign')"
            . " FROM svc.schema_migration"), "1|a \"b\" 'c'|\n", 'its name');

    # a migration that fails leaves nothing behind

    $file->('0002_bad.sql', "CREATE TABLE svc.half (i int);\nSELECT 1/0;\n");
    fails([ 'migrate', '--sql', $dir ], qr/PostgreSQL: .*0002_bad\.sql:2: .*division/,
          'a migration with an error', $base);
    is(rows('folders', "SELECT to_regclass('svc.half') IS NULL"), "t\n",
       'its transaction is rolled back');

    $file->('0002_twin.sql', '');
    fails([ 'migrate', '--sql', $dir ], qr/.*more than one migration of the number 2/,
          'a number that is there twice', $base);

    unlink "$dir/0002_twin.sql", "$dir/0002_bad.sql";
    mkdir "$dir/0002_folder.sql" or die $!;
    fails([ 'migrate', '--sql', $dir ], qr/cannot read .*0002_folder/, 'a folder',
          $base);
    rmdir "$dir/0002_folder.sql";
    symlink "$dir/none", "$dir/0002_link.sql" or die $!;
    fails([ 'migrate', '--sql', $dir ], qr/cannot read .*0002_link/,
          'a link to nothing', $base);
}


# --- tenants -----------------------------------------------------------------

sub tenants {
    my $name = q{O'Hara; \q $(id) `id` "x" :name %s};
    my $text = works([ qw(tenant create --slug globex --name), $name,
                       '--owner', "o'hara\@globex.test" ], 'tenant create');

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

    fails([ qw(tenant create --slug globex --name x --owner a@b) ],
          qr/the slug is taken/, 'a slug that is taken');
    fails([ qw(tenant create --slug -x- --name x --owner a@b) ],
          qr/a slug is/, 'a slug that is none');
    fails([ qw(tenant create --slug a --name), 'x' x 121, qw(--owner a@b) ],
          qr/.*120/, 'a name that is too long');
    is($s->sql("SELECT count(*) FROM svc.tenant WHERE slug = 'a'"), 0,
       'nothing of it was stored');

    environment();

    like(works([ qw(tenant list) ], 'tenant list'),
         qr/\Aenv  [0-9a-f-]{36}  é  1 users
globex  [0-9a-f-]{36}  \Q$name\E  1 users\n\z/, 'both');
    $s->sql("UPDATE svc.tenant SET name = E'a\\nb\\033[2J\\u009b' WHERE slug = 'env'");
    like(works([ qw(tenant list) ], 'a name from before'), qr/^env  \S+  a\?b\?\[2J\?  1 users$/m,
         'is on one line');
}


# --env is for a shell

sub environment {
    my $text = works([ qw(tenant create --slug env --name é --owner), q{$(id)'"@b},
                       '--env' ], 'tenant create --env');
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


sub owners_and_names {
    my $n = $s->sql('SELECT count(*) FROM svc.tenant');

    for my $owner ('nobody', '@b', 'a@', 'a@b@c', 'a b@c', "a\tb\@c", "a\@b\n",
                   "a\x7f\@b", "a\xc2\x85\@b", "a\xc2\xa0\@b", "\xe2\x80\xa8a\@b",
                   "\xe3\x80\x80\@b", 'x' x 250 . '@b.cd')
    {
        fails([ qw(tenant create --slug no --name x --owner), $owner ],
              qr/--owner (?:is an e-mail address, not|has control characters)/,
              'an owner that is no address');
    }

    for my $bad ("a\nb", "\x1b[2J", "a\x7f", "a\xc2\x9bb", "\r") {
        fails([ qw(tenant create --slug no --owner a@b --name), $bad ],
              qr/--name has control characters/, 'a tenant\'s name');
        fails([ qw(scim-token create --tenant globex --name), $bad ],
              qr/--name has control characters/, 'a token\'s name');
    }

    fails([ qw(tenant create --slug no --owner a@b --name), $_ ],
          qr/--name is empty/, 'no name') for '', '   ';
    fails([ qw(tenant create --slug no --owner a@b --name), "\xff" ],
          qr/--name is not UTF-8/, 'a name that is not UTF-8');
    fails([ qw(scim-token create --tenant globex --name), 'x' x 101 ],
          qr/.*100/, 'a token\'s name that is too long');
    is($s->sql('SELECT count(*) FROM svc.tenant'), $n, 'nothing was stored');

    for my $name ('-', '-x', '\\', "\\n", "''", '*', "\xc3\xa9" x 100,
                  "\xe6\x97\xa5\xe6\x9c\xac", ':slug', '$HOME')
    {
        my $text = works([ qw(scim-token create --tenant globex --name), $name ],
                         'a name with its own ways');
        my ($id) = $text =~ /^id +(\S+)$/m;

        is($s->sql("SELECT name FROM svc.credential WHERE id = '$id'"), $name,
           'is stored as it is');
    }

    for ([ '--name', '  a b  ', 'a b' ], [ '--name=--slug', undef, '--slug' ],
         [ '--name=a=b', undef, 'a=b' ])
    {
        my ($option, $value, $stored) = @$_;
        my $text = works([ qw(scim-token create --tenant globex), $option,
                           $value // () ], "$option");
        my ($id) = $text =~ /^id +(\S+)$/m;

        is($s->sql("SELECT name FROM svc.credential WHERE id = '$id'"), $stored,
           "is \"$stored\"");
    }
}


# --- tokens ------------------------------------------------------------------

sub status {
    return $s->http(GET => '/scim/v2/ServiceProviderConfig',
                    [ Authorization => "Bearer $_[0]" ])->status;
}


sub tokens {
    my $text = works([ qw(scim-token create --tenant globex --name), "it's" ],
                     'one more SCIM token');
    like($text, qr/\A id\ +[0-9a-f-]{36}\ntoken\ +scim_[\w-]{43}\n
                      The\ token\ is\ not\ shown\ again\.\n\z/x, 'is shown');

    my ($token) = $text =~ /\b(scim_[\w-]{43})\b/;
    my ($id) = $text =~ /^id +(\S+)/m;

    is(status($token), 200, 'it works');

    $text = works([ qw(token list --tenant globex) ], 'token list');
    like($text, qr/^$id  scim  scim_....\.\.\.  it's  active  scim  last used \d/m,
         'has it');
    unlike($text, qr/\b(?:svc|scim)_[\w-]{10}/, 'and shows no token');

    for my $time (qw(first second)) {
        is(works([ qw(token revoke --tenant globex --id), $id ],
                 "token revoke, the $time time"), "revoked $id\n", 'says so');
    }

    is(status($token), 401, 'it counts from the next request');

    fails([ qw(token revoke --tenant env --id), $id ], qr/tenant "env" has no token/,
          'revoke of another tenant\'s token');
    fails([ qw(token revoke --tenant globex --id), q{x' OR true --} ],
          qr/.*no token/, 'revoke of nothing');
    fails([ qw(scim-token create --tenant nobody --name x) ],
          qr/there is no tenant "nobody"/, 'a SCIM token of no tenant');
    fails([ qw(token create --tenant nobody --name x --permissions audit:view) ],
          qr/there is no tenant "nobody"/, 'a token of no tenant');
    fails([ qw(token list --tenant nobody) ], qr/there is no tenant "nobody"/,
          'the tokens of no tenant');
    fails([ qw(token revoke --tenant nobody --id), $id ], qr/.*no token/,
          'revoke of no tenant');
}


sub expiry {
    my @create = qw(token create --tenant globex --permissions audit:view --name);

    for ([ '2030-01-31T00:00:00Z', '2030-01-31 00:00:00+00' ],
         [ '2030-01-31t10:20:30.1234z', '2030-01-31 10:20:30.123+00' ],
         [ '2030-01-31 00:00:00.5+23:59', '2030-01-30 00:01:00.5+00' ],
         [ '2030-01-31T00:00:00-05:30', '2030-01-31 05:30:00+00' ],
         [ '2030-12-31T23:59:60Z', '2031-01-01 00:00:00+00' ],
         [ '2096-02-29T08:09:10Z', '2096-02-29 08:09:10+00' ],
         [ '9999-12-31T23:59:59.999Z', '9999-12-31 23:59:59.999+00' ])
    {
        my ($time, $stored) = @$_;
        my ($id) = works([ @create, 'x', '--expires', $time ], $time)
                   =~ /^id +(\S+)$/m;

        is($s->sql("SELECT expires_at FROM svc.credential WHERE id = '$id'"),
           $stored, "is $stored");
    }

    my $n = $s->sql('SELECT count(*) FROM svc.credential');

    for my $time ('tomorrow', 'infinity', '-infinity', 'now', 'allballs', '2030',
                  '2030-01-31', '2030-01-31T00:00Z', '2030-01-31T00:00:00',
                  '2030-01-31T00:00:00.Z', '2030-01-31T00:00:00Z ',
                  '2030-01-31T00:00:00+01', '2030-01-31T00:00:00+0100',
                  '2030-01-31T00:00:00+24:00', '2030-01-31T00:00:00+01:60',
                  '2030-13-01T00:00:00Z', '2030-00-01T00:00:00Z',
                  '2030-01-00T00:00:00Z', '2030-02-29T00:00:00Z',
                  '2100-02-29T00:00:00Z', '2030-01-01T24:00:00Z',
                  '2030-01-01T00:60:00Z', '2030-01-01T00:00:61Z',
                  '20300-01-01T00:00:00Z', '2030-01-31T00:00:00Z BC',
                  '2030-01-31T00:00:00 America/Denver', '+2030-01-01T00:00:00Z')
    {
        fails([ @create, 'x', '--expires', $time ],
              qr/--expires is a time such as/, $time);
    }

    fails([ @create, 'x', '--expires', $_ ], qr/--expires .*has passed/, $_)
        for '2020-01-01T00:00:00Z', '0000-01-01T00:00:00Z',
            POSIX::strftime('%Y-%m-%dT%H:%M:%SZ', gmtime time - 2),
            POSIX::strftime('%Y-%m-%dT%H:%M:%S+10:00', gmtime time + 35990);
    fails([ @create, 'x', '--expires', $_ ], qr/--expires .*until the year 9999/, $_)
        for '9999-12-31T23:59:59-00:01', '9999-12-31T23:59:60Z';
    fails([ @create, 'x', '--expires', '' ], qr/--expires is empty/, 'no time');
    is($s->sql('SELECT count(*) FROM svc.credential'), $n, 'nothing was stored');

    my $token = works([ @create, 'ci', '--expires', '2030-01-01T00:00:00Z' ],
                      'a token');
    $s->sql("UPDATE svc.credential SET expires_at = '2020-01-01' WHERE name = 'ci'");
    like(works([ qw(token list --tenant globex) ], 'token list'),
         qr/ ci  expired  audit:view/, 'has expired');
}


sub permissions {
    my @create = qw(token create --tenant globex --name p --permissions);
    my ($table) = slurp($s->root . '/ngx_svc_admin/ngx_svc_admin_governance.c')
                  =~ /\bngx_svc_admin_permissions\[\] = \{(.*?)\};/s;
    my @known = $table =~ /"([a-z:]+)"/g;

    # names of files that a "*" would stand for

    my $folder = $s->dir . '/folder';
    mkdir $folder;
    open my $fh, '>', "$folder/audit:view" or die $!;
    close $fh;

    for my $list ('*', 'audit:*', 'users:fly', 'audit:view,', ',audit:view', ',',
                  'audit:view,,users:view', 'audit:view users:view',
                  'audit:view, users:view', 'AUDIT:VIEW', 'audit', "x'y\\")
    {
        my ($out, $rc, $err) = svcctl($pg, { cwd => $folder }, @create, $list);

        isnt($rc, 0, "the permissions $list");
        is($out, '', 'no token');
        like($err, qr/^svcctl: unknown permission "[^"]*"; known: \Q@{[
             join ', ', @known ]}\E$/m, 'which are known');
    }

    fails([ @create, '' ], qr/--permissions is empty/, 'no permissions');
    fails([ @create, "audit:view\nusers:view" ],
          qr/--permissions has control characters/, 'lines');

    my ($id) = works([ @create, 'users:view,audit:view,users:view' ], 'one twice')
               =~ /^id +(\S+)$/m;
    is($s->sql("SELECT permissions FROM svc.credential WHERE id = '$id'"),
       '{audit:view,users:view}', 'is stored once');
    ($id) = works([ @create, join ',', @known ], 'all') =~ /^id +(\S+)$/m;
    is($s->sql("SELECT cardinality(permissions) FROM svc.credential"
               . " WHERE id = '$id'"), scalar @known, 'all that the API knows');
}


# --- the command line --------------------------------------------------------

sub command_line {
    for ([ [ qw(tenant) ], 'unknown command "tenant"' ],
         [ [ qw(tenant destroy) ], 'unknown command "tenant destroy"' ],
         [ [ '$(id)' ], 'unknown command "\$\(id\)"' ],
         [ [ qw(tenant list me) ], '"tenant list" takes no "me"' ],
         [ [ qw(migrate all) ], '"migrate" takes no "all"' ],
         [ [ 'tenant', 'list', '' ], '"tenant list" takes no ""' ],
         [ [ qw(--wrong) ], 'unknown option --wrong' ],
         [ [ qw(--wrong x status) ], 'unknown option --wrong' ],
         [ [ '--', 'status' ], 'unknown option --' ],
         [ [ '--slug name', 'x' ], 'unknown option --slug name' ],
         [ [ qw(status -x) ], 'unknown option -x' ],
         [ [ qw(status --slug x) ], '"status" has no --slug' ],
         [ [ qw(status --env) ], '"status" has no --env' ],
         [ [ qw(tenant create --slug) ], '--slug needs a value' ],
         [ [ qw(tenant create --slug --name x --owner a@b) ],
           '--slug needs a value' ],
         [ [ qw(tenant create --slug= --name x --owner a@b) ], '--slug is empty' ],
         [ [ qw(tenant create --slug a --slug b --name x --owner a@b) ],
           '--slug is given twice' ],
         [ [ qw(tenant create --env --env --slug b --name x --owner a@b) ],
           '--env is given twice' ],
         [ [ qw(tenant create --env=1 --slug b --name x --owner a@b) ],
           '--env takes no value' ],
         [ [ qw(--pg x status) ], '--pg is given twice' ],
         [ [ qw(tenant create --slug a --name x) ], '--owner is missing' ],
         [ [ qw(token create --tenant globex --name x) ],
           '--permissions is missing' ],
         [ [ qw(sign-ins retain --days) ], '--days needs a value' ],
         [ [ qw(sign-ins retain --days 1e3) ], '--days is a number from 0 to 99999' ],
         [ [ qw(audit retain --months 0) ], '--months is a number from 1 to 9999' ],
         [ [ qw(audit retain --months 12345) ], '--months is a number from 1 to 9999' ])
    {
        my ($args, $message) = @$_;

        fails($args, qr/$message/, "svcctl @$args");
    }

    my ($out, $rc, $err) = svcctl(undef, '--pg', '', 'status');
    is_deeply([ $out, $rc, $err ], [ '', 1, "svcctl: --pg is empty\n" ],
              'a conninfo that is empty');

    ($out, $rc, $err) = svcctl(undef, { env => { SVC_PG => $pg } }, 'status');
    is($rc, 0, 'SVC_PG');
    like($out, qr/^globex /m, 'is the database') or diag($err);

    for my $args ([ '--help' ], [ qw(tenant create -h) ], [ 'help' ]) {
        ($out, $rc, $err) = svcctl($pg, @$args);
        is($rc, 0, "svcctl @$args");
        like($out, qr/\Ausage: svcctl/, 'shows how');
        is($err, '', 'on its output');
    }

    ($out, $rc, $err) = svcctl($pg);
    is($rc, 2, 'no command');
    is($out, '', 'no output');
    like($err, qr/\Ausage: svcctl/, 'shows how');
}


# --- the rest ----------------------------------------------------------------

sub others {
    like(works([ qw(access-policy reset --tenant globex) ], 'access-policy reset'),
         qr/\Aversion \d+ admits everybody; the one before is kept\n\z/, 'its version');
    fails([ qw(access-policy reset --tenant nope) ], qr/there is no tenant "nope"/,
          'a reset of no tenant');

    works([ qw(audit partitions) ], 'audit partitions');
    like(works([ qw(audit partitions --months 14) ], 'two months more'),
         qr/\A(?:made audit_event_\d{4}_\d\d\n){2}\z/, 'are made');
    is(works([ qw(audit retain --months 1) ], 'audit retain'), '', 'nothing is old');
}


sub sign_ins {
    my $dir = $s->dir;
    my $file = "$dir/sign-ins.csv";
    my $import = sub {
        open my $fh, '>', $file or die $!;
        print $fh map { "$_\n" } 'at,ip,country,email', @_;
        close $fh;
        return [ qw(sign-ins import --tenant globex --file), $file ];
    };

    is(works($import->(
           '2026-11-20T08:15:00Z,203.0.113.7,FR,', '2026-11-20 22:40+01,::1,,',
           '"2026-11-20 08:15:00.123456+00",203.0.113.8,,',
           '2026-11-20t08:15:00.5 -0530,203.0.113.9,,',
           '0001-01-01T00:00:00,203.0.113.10,,'), 'an import'),
       "imported 5 sign-ins from 5 addresses; 0 were there already; 0 e-mail"
       . " addresses are not in the directory\n", 'is counted');
    is($s->sql("SELECT string_agg(at::text, ', ' ORDER BY at) FROM svc.sign_in"),
       '0001-01-01 00:00:00+00, 2026-11-20 08:15:00+00,'
       . ' 2026-11-20 08:15:00.123+00, 2026-11-20 13:45:00.5+00,'
       . ' 2026-11-20 21:40:00+00', 'the times');

    for my $time (qw(tomorrow yesterday infinity -infinity epoch now noon
                     0001-01-01T00:00:00+01:00 0000-12-31T00:00:00Z
                     9999-12-31T23:59:59-01:00 10000-01-01T00:00:00Z
                     11/20/2026 2026-02-30T00:00:00Z 2026-11-20), '""',
                  '2026-11-20 08:15:00 BC', '0044-03-15 00:00:00+00 BC')
    {
        fails($import->("$time,203.0.113.7,FR,"),
              qr/\Q$file\E: .*(?:no time such as|out of range|in the future)/,
              "a sign-in at $time");
    }

    is($s->sql('SELECT count(*) FROM svc.sign_in'), 5, 'none is stored');
    fails([ qw(sign-ins import --tenant globex --file), $dir ], qr/cannot read /,
          'a folder');
    fails([ qw(sign-ins import --tenant globex --file /proc/self/mem) ],
          qr/.*the file cannot be read to its end/, 'a file that ends early');

    is(works([ qw(sign-ins retain --days 20000) ], 'sign-ins retain'),
       "deleted 1\n", 'deletes the old one');

    # names are taken from where the command was given

    my @relative = ({ cwd => $dir }, qw(sign-ins import --tenant globex --file));
    my ($out, $rc, $err) = svcctl($pg, @relative, 'sign-ins.csv');
    isnt($rc, 0, 'a file by a relative name');
    like($err, qr/sign-ins\.csv: .*line 2/, 'is read') or diag($err);
    symlink $s->pg->{dir}, "$dir/socket" or die $!;
    ($out, $rc, $err) = svcctl($pg, { cwd => "$dir/copy" }, qw(migrate --sql sql));
    is($rc, 0, 'a folder by a relative name') or diag($err);
}


# --- what svcctl needs -------------------------------------------------------

# A path to all programs but these; instead of psql, a program of one's own.

sub path_without {
    my ($without, $psql) = @_;
    my $others = $s->dir . '/bin';
    my $path = $others . ++$s->{paths};
    my %not = map { $_ => 1 } @$without, $psql ? 'psql' : ();

    links($others, grep { !/\b(?:@{[ join '|', @needed ]})\z/ } glob '/usr/bin/*')
        if !-d $others;
    links($path, map { "/usr/bin/$_" } grep { !$not{$_} } @needed);

    if ($psql) {
        open my $fh, '>', "$path/psql" or die $!;
        print $fh "#!/bin/sh\n$psql\n";
        close $fh;
        chmod 0755, "$path/psql";
    }

    return { env => { PATH => "$path:$others" } };
}


sub links {
    my ($folder, @programs) = @_;

    mkdir $folder, 0755 or die "$folder: $!";
    symlink $_, $folder . s{.*(?=/)}{}r or die "$_: $!" for @programs;
}


sub programs {
    my $create = [ qw(tenant create --slug tools --name x --owner a@b) ];
    my $n = $s->sql('SELECT count(*) FROM svc.credential');

    for ([ [ 'psql' ], qr/there is no psql/ ], [ [ 'sha256sum' ], qr/no SHA-256/ ],
         [ [ 'basenc' ], qr/no token/ ], [ [ 'head' ], qr/no token/ ])
    {
        my ($without, $message) = @$_;
        my ($out, $rc, $err) = svcctl($pg, path_without($without), @$create);

        isnt($rc, 0, "without @$without");
        is($out, '', 'no output');
        like($err, $message, 'says so');
    }

    for my $psql ('cat > /dev/null', 'cat > /dev/null; echo no answer',
                  'cat > /dev/null; echo; echo 1', 'exit 1', 'kill -9 $$')
    {
        my $path = path_without([], $psql);

        for my $args ($create, [ 'migrate' ], [ 'status' ],
                      [ qw(token create --tenant globex --name x --permissions
                           audit:view) ],
                      [ qw(scim-token create --tenant globex --name x) ],
                      [ qw(token revoke --tenant globex --id x) ],
                      [ qw(access-policy reset --tenant globex) ],
                      [ qw(sign-ins retain --days 1) ])
        {
            my ($out, $rc, $err) = svcctl($pg, $path, @$args);

            isnt($rc, 0, "svcctl @$args, psql: $psql");
            is($out, '', 'no output');
            like($err, qr/^svcctl: PostgreSQL/m, 'says so');
        }
    }

    is($s->sql('SELECT count(*) FROM svc.credential'), $n, 'nothing was stored');

    my ($out, $rc, $err) = svcctl($pg, path_without([ 'openssl' ]), @$create);
    is($rc, 0, 'without openssl') or diag($err);
    is(scalar(() = $out =~ /_[\w-]{43}$/mg), 2, 'it works');
    $s->secret($out =~ /\b((?:svc|scim)_[\w-]{43})/g);
}


sub connection_cut {
    my $create = [ qw(tenant create --slug cut --name x --owner a@b) ];

    $s->sql('CREATE FUNCTION public.cut() RETURNS trigger LANGUAGE plpgsql AS'
            . " 'BEGIN PERFORM pg_terminate_backend(pg_backend_pid());"
            . " RETURN NEW; END'");
    $s->sql("CREATE TRIGGER cut $_ EXECUTE FUNCTION public.cut()"),
        fails($create, qr/the connection was lost; look whether "tenant create"/, $_),
        $s->sql('DROP TRIGGER cut ON svc.credential')
        for 'BEFORE INSERT ON svc.credential FOR EACH ROW';
    is($s->sql("SELECT count(*) FROM svc.tenant WHERE slug = 'cut'"), 0,
       'nothing was stored');
    works($create, 'again');
}
