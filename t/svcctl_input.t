#!/usr/bin/perl

# svcctl: what it accepts and refuses on its command line and in files, and what
# it does without the programs that it needs.

use strict;
use warnings;

use POSIX ();
use Test::More;

use SvcTest::Ctl;
use SvcTest::Process qw(slurp);
use SvcTest::Skip;

needs(program => 'openssl');

my @needed = qw(psql sha256sum basenc head openssl);

SvcTest::Ctl->each_condition(
    [ 'a tenant' => \&a_tenant ],
    [ 'owners and names' => \&owners_and_names ],
    [ 'expiry' => \&expiry ],
    [ 'permissions' => \&permissions ],
    [ 'the command line' => \&command_line ],
    [ 'sign-ins' => \&sign_ins ],
    [ 'passwords' => \&passwords ],
    [ 'programs that are missing' => \&programs ],
);

done_testing();


sub a_tenant {
    my ($c) = @_;

    $c->works([ qw(tenant create --slug globex --name Globex --owner a@b) ],
              'tenant create');
}


sub owners_and_names {
    my ($c) = @_;
    my $s = $c->{system};
    my $n = $s->sql('SELECT count(*) FROM svc.tenant');

    for my $owner ('nobody', '@b', 'a@', 'a@b@c', 'a b@c', "a\tb\@c", "a\@b\n",
                   "a\x7f\@b", "a\xc2\x85\@b", "a\xc2\xa0\@b", "\xe2\x80\xa8a\@b",
                   "\xe3\x80\x80\@b", 'x' x 250 . '@b.cd')
    {
        $c->fails([ qw(tenant create --slug no --name x --owner), $owner ],
              qr/--owner (?:is an e-mail address, not|has control characters)/,
              'an owner that is no address');
    }

    for my $bad ("a\nb", "\x1b[2J", "a\x7f", "a\xc2\x9bb", "\r") {
        $c->fails([ qw(tenant create --slug no --owner a@b --name), $bad ],
              qr/--name has control characters/, 'a tenant\'s name');
        $c->fails([ qw(scim-token create --tenant globex --name), $bad ],
              qr/--name has control characters/, 'a token\'s name');
    }

    $c->fails([ qw(tenant create --slug no --owner a@b --name), $_ ],
          qr/--name is empty/, 'no name') for '', '   ';
    $c->fails([ qw(tenant create --slug no --owner a@b --name), "\xff" ],
          qr/--name is not UTF-8/, 'a name that is not UTF-8');
    $c->fails([ qw(scim-token create --tenant globex --name), 'x' x 101 ],
          qr/.*100/, 'a token\'s name that is too long');

    for my $part (qw(given family)) {
        my @create = (qw(tenant create --slug no --name x --owner a@b), "--$part");

        $c->fails([ @create, "a\nb" ], qr/--$part has control characters/, "a $part name");
        $c->fails([ @create, 'x' x 1025 ], qr/--$part has at most 1024 bytes/, 'that is too long');
        $c->fails([ @create, "\xff" ], qr/--$part is not UTF-8/, 'that is not UTF-8');
        $c->fails([ @create, '' ], qr/--$part is empty/, 'that is none');
    }

    is($s->sql('SELECT count(*) FROM svc.tenant'), $n, 'nothing was stored');

    for my $name ('-', '-x', '\\', "\\n", "''", '*', "\xc3\xa9" x 100,
                  "\xe6\x97\xa5\xe6\x9c\xac", ':slug', '$HOME')
    {
        my $text = $c->works([ qw(scim-token create --tenant globex --name), $name ],
                         'a name with its own ways');
        my ($id) = $text =~ /^id +(\S+)$/m;

        is($s->sql("SELECT name FROM svc.credential WHERE id = '$id'"), $name,
           'is stored as it is');
    }

    for ([ '--name', '  a b  ', 'a b' ], [ '--name=--slug', undef, '--slug' ],
         [ '--name=a=b', undef, 'a=b' ])
    {
        my ($option, $value, $stored) = @$_;
        my $text = $c->works([ qw(scim-token create --tenant globex), $option,
                           $value // () ], "$option");
        my ($id) = $text =~ /^id +(\S+)$/m;

        is($s->sql("SELECT name FROM svc.credential WHERE id = '$id'"), $stored,
           "is \"$stored\"");
    }
}


sub expiry {
    my ($c) = @_;
    my $s = $c->{system};
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
        my ($id) = $c->works([ @create, 'x', '--expires', $time ], $time)
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
        $c->fails([ @create, 'x', '--expires', $time ],
              qr/--expires is a time such as/, $time);
    }

    $c->fails([ @create, 'x', '--expires', $_ ], qr/--expires .*has passed/, $_)
        for '2020-01-01T00:00:00Z', '0000-01-01T00:00:00Z',
            POSIX::strftime('%Y-%m-%dT%H:%M:%SZ', gmtime time - 2),
            POSIX::strftime('%Y-%m-%dT%H:%M:%S+10:00', gmtime time + 35990);
    $c->fails([ @create, 'x', '--expires', $_ ], qr/--expires .*until the year 9999/, $_)
        for '9999-12-31T23:59:59-00:01', '9999-12-31T23:59:60Z';
    $c->fails([ @create, 'x', '--expires', '' ], qr/--expires is empty/, 'no time');
    is($s->sql('SELECT count(*) FROM svc.credential'), $n, 'nothing was stored');

    my $token = $c->works([ @create, 'ci', '--expires', '2030-01-01T00:00:00Z' ],
                      'a token');
    $s->sql("UPDATE svc.credential SET expires_at = '2020-01-01' WHERE name = 'ci'");
    like($c->works([ qw(token list --tenant globex) ], 'token list'),
         qr/ ci  expired  audit:view/, 'has expired');
}


sub permissions {
    my ($c) = @_;
    my $s = $c->{system};
    my @create = qw(token create --tenant globex --name p --permissions);
    my @known = slurp($s->root . '/ngx_svc_common/base/ngx_svc_permission.h')
                =~ /^    _\(\w+, "([a-z:]+)"\)/mg;

    # files whose names a "*" would match

    my $folder = $s->dir . '/folder';
    mkdir $folder;
    open my $fh, '>', "$folder/audit:view" or die $!;
    close $fh;

    for my $list ('*', 'audit:*', 'users:fly', 'audit:view,', ',audit:view', ',',
                  'audit:view,,users:view', 'audit:view users:view',
                  'audit:view, users:view', 'AUDIT:VIEW', 'audit', "x'y\\")
    {
        my ($out, $rc, $err) = $c->svcctl({ cwd => $folder }, @create, $list);

        isnt($rc, 0, "the permissions $list");
        is($out, '', 'no token');
        like($err, qr/^svcctl: unknown permission "[^"]*"; known: \Q@{[
             join ', ', @known ]}\E$/m, 'which are known');
    }

    $c->fails([ @create, '' ], qr/--permissions is empty/, 'no permissions');
    $c->fails([ @create, "audit:view\nusers:view" ],
          qr/--permissions has control characters/, 'lines');

    my ($id) = $c->works([ @create, 'users:view,audit:view,users:view' ], 'one twice')
               =~ /^id +(\S+)$/m;
    is($s->sql("SELECT permissions FROM svc.credential WHERE id = '$id'"),
       '{audit:view,users:view}', 'is stored once');
    ($id) = $c->works([ @create, join ',', @known ], 'all') =~ /^id +(\S+)$/m;
    is($s->sql("SELECT cardinality(permissions) FROM svc.credential"
               . " WHERE id = '$id'"), scalar @known, 'all that the API knows');
}


sub command_line {
    my ($c) = @_;

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

        $c->fails($args, qr/$message/, "svcctl @$args");
    }

    my ($out, $rc, $err) = $c->svcctl({ pg => undef }, '--pg', '', 'status');
    is_deeply([ $out, $rc, $err ], [ '', 1, "svcctl: --pg is empty\n" ],
              'a conninfo that is empty');

    ($out, $rc, $err) = $c->svcctl({ pg => undef, env => { SVC_PG => $c->{pg} } },
                                'status');
    is($rc, 0, 'SVC_PG');
    like($out, qr/^globex /m, 'is the database') or diag($err);

    for my $args ([ '--help' ], [ qw(tenant create -h) ], [ 'help' ]) {
        ($out, $rc, $err) = $c->svcctl(@$args);
        is($rc, 0, "svcctl @$args");
        like($out, qr/\Ausage: svcctl/, 'shows how');
        is($err, '', 'on its output');
    }

    ($out, $rc, $err) = $c->svcctl();
    is($rc, 2, 'no command');
    is($out, '', 'no output');
    like($err, qr/\Ausage: svcctl/, 'shows how');
}


sub sign_ins {
    my ($c) = @_;
    my $s = $c->{system};
    my $dir = $s->dir;
    my $file = "$dir/sign-ins.csv";
    my $import = sub {
        open my $fh, '>', $file or die $!;
        print $fh map { "$_\n" } 'at,ip,country,email', @_;
        close $fh;
        return [ qw(sign-ins import --tenant globex --file), $file ];
    };

    is($c->works($import->(
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
        $c->fails($import->("$time,203.0.113.7,FR,"),
              qr/\Q$file\E: .*(?:no time such as|out of range|in the future)/,
              "a sign-in at $time");
    }

    is($s->sql('SELECT count(*) FROM svc.sign_in'), 5, 'none is stored');
    $c->fails([ qw(sign-ins import --tenant globex --file), $dir ], qr/cannot read /,
          'a folder');
    $c->fails([ qw(sign-ins import --tenant globex --file /proc/self/mem) ],
          qr/.*the file cannot be read to its end/, 'a file that ends early');

    is($c->works([ qw(sign-ins retain --days 20000) ], 'sign-ins retain'),
       "deleted 1\n", 'deletes the old one');

    # paths are relative to the folder in which the command is run

    my @relative = ({ cwd => $dir }, qw(sign-ins import --tenant globex --file));
    my ($out, $rc, $err) = $c->svcctl(@relative, 'sign-ins.csv');
    isnt($rc, 0, 'a file by a relative name');
    like($err, qr/sign-ins\.csv: .*line 2/, 'is read') or diag($err);
    symlink $s->pg->{dir}, "$dir/socket" or die $!;
    ($out, $rc, $err) = $c->svcctl({ cwd => "$dir/copy" }, qw(migrate --sql sql));
    is($rc, 0, 'a folder by a relative name') or diag($err);
}


# Each refused line is named, with the rule, and nothing is imported; no hash is
# shown.

sub passwords {
    my ($c) = @_;
    my $s = $c->{system};
    my $file = $s->dir . '/users.jsonl';
    my $bytes = sub { 'A' x int($_[0] * 4 / 3 + 0.99) };
    my $argon2 = sub {
        my ($costs, $salt, $tag, $kind) = @_;

        return '$' . ($kind // 'argon2id') . "\$v=19\$$costs\$"
               . $bytes->($salt // 16) . '$' . $bytes->($tag // 32);
    };
    my $pbkdf2 = sub {
        my ($digest, $rounds, $salt, $tag) = @_;

        return "\$pbkdf2-sha$digest\$$rounds\$" . $bytes->($salt) . '$'
               . $bytes->($tag);
    };
    my $bcrypt = sub { '$' . $_[0] . '$' . ($_[1] // 'A' x 53) };
    my $line = sub { qq({"email":"$_[0]\@globex.test","passwordHash":"$_[1]"}) };
    my $import = sub {
        open my $fh, '>', $file or die $!;
        print $fh map { "$_\n" } @_;
        close $fh;
        return [ qw(users import --tenant globex --passwords --file), $file ];
    };
    my $good = $argon2->('m=19456,t=2,p=1');

    for my $hash ($good, $argon2->('m=262144,t=16,p=4', 8, 16, 'argon2i'),
                  $argon2->('m=32,t=1,p=4', 64, 64), $bcrypt->('2a$04'),
                  $bcrypt->('2y$14'), $pbkdf2->(256, 1, 8, 32),
                  $pbkdf2->(512, 2_000_000, 64, 64))
    {
        like($c->works($import->($line->('none', $hash)), "$hash"),
             qr/^imported 0 passwords; 0 .* 1 e-mail /, 'is taken');
    }

    for my $case (
        [ $argon2->('m=262145,t=2,p=1'), 'm=262145: 262144 KiB is the most' ],
        [ $argon2->('m=9999999999,t=2,p=1'), 'm=9999999999: ' ],
        [ $argon2->('m=19456,t=17,p=1'), 't=17: 16 is the most' ],
        [ $argon2->('m=19456,t=2,p=5'), 'p=5: 4 is the most' ],
        [ $argon2->('m=31,t=2,p=4'), 'm=31: 8 for each of p' ],
        [ $argon2->('m=19456,t=0,p=1'), 'an argon2 string is' ],
        [ $argon2->('m=019456,t=2,p=1'), 'an argon2 string is' ],
        [ $argon2->('m=19456,t=2,p=1', 7), 'the salt is not base64 of 8 to 64' ],
        [ $argon2->('m=19456,t=2,p=1', 66), 'the salt is not' ],
        [ $argon2->('m=19456,t=2,p=1', 16, 15), 'the hash is not base64 of 16' ],
        [ "${good}AA", 'the hash is not' ],
        [ "$good=", 'an argon2 string is' ],
        [ $good =~ s/.\z/B/r, 'the hash is not' ],
        [ $good =~ s/v=19/v=16/r, 'an argon2 string is' ],
        [ $argon2->('m=19456,t=2,p=1', 16, 32, 'argon2d'), 'its scheme is not' ],
        [ $bcrypt->('2b$15'), 'the cost is 15: 4 to 14 are taken' ],
        [ $bcrypt->('2b$03'), 'the cost is 03: ' ],
        [ $bcrypt->('2b$4'), 'a bcrypt string is ' ],
        [ $bcrypt->('2b$12', 'A' x 52), 'a bcrypt string is ' ],
        [ $bcrypt->('2x$12'), 'its scheme is not taken' ],
        [ $pbkdf2->(256, 2_000_001, 16, 32), '2000001 rounds: 2000000 are' ],
        [ $pbkdf2->(256, 29_000, 16, 64), 'the hash is not base64 of 32 bytes' ],
        [ $pbkdf2->(512, 29_000, 16, 32), 'the hash is not base64 of 64 bytes' ],
        [ $pbkdf2->(256, 29_000, 7, 32), 'the salt is not' ],
        [ $pbkdf2->(256, 29_000, 16, 32) =~ s/A\z/+/r, 'a PBKDF2 string is ' ],
        [ $pbkdf2->(384, 29_000, 16, 32), 'its scheme is not taken' ],
        [ '$6$saltsalt$' . 'A' x 86, 'its scheme is not taken' ],
        [ '$y$j9T$saltsalt$' . 'A' x 43, 'its scheme is not taken' ],
        [ 'secret', 'its scheme is not taken' ], [ '', 'its scheme is not taken' ],
        [ 'A' x 257, 'the hash has more than 256 bytes' ])
    {
        my ($hash, $rule) = @$case;

        $c->fails($import->($line->('a', $good), '', $line->('b', $hash)),
                  qr/\Q$file: line 3: $rule\E/, "a hash: $rule");
    }

    for my $case ([ '{', 'it is no JSON object' ], [ '[]', 'it is no JSON object' ],
                  [ '\\.', 'it is no JSON object' ],
                  [ "{\"email\":\"a\0\"}", 'it is no JSON object' ],
                  [ '{"email":"a\\u0000"}', 'it is no JSON object' ],
                  [ '[' x 100_000, 'it is no JSON object' ],
                  [ '{}', 'it has no string "email"' ],
                  [ '{"email":1}', 'it has no string "email"' ],
                  [ '{"email":"a@b"}', 'it has no string "passwordHash"' ],
                  [ $line->('A', $good), 'line 1 has the same address' ])
    {
        my ($text, $rule) = @$case;

        $c->fails($import->($line->('a', $good), $text),
                  qr/\Q$file: line 2: $rule\E$/, "a line: $rule");
    }

    for my $text ("\x01", "\xff") {
        my ($out, undef, $err) = $c->svcctl(
            @{ $import->($line->('a', $good), $line->('b', $good) . $text) });

        like($err, qr/^svcctl: \Q$file\E: .* in line 2$/m,
             'bytes that JSON does not have');
        unlike($out . $err, qr/argon2/, 'without what is in the line');
    }

    $c->fails([ qw(users import --tenant globex --passwords --file /proc/self/mem) ],
              qr/.*the file cannot be read to its end/, 'a file that ends early');
    $c->fails([ qw(users import --tenant globex --file), $file ],
              qr/--passwords is missing/, 'users without passwords');
    $c->fails([ qw(users import --tenant none --passwords --file), $file ],
              qr/there is no tenant "none"/, 'a tenant that there is not');
    is($s->sql('SELECT count(*) FROM svc.password'), 0, 'nothing is stored');
}


# Returns a PATH to all programs except some; $psql replaces psql.

sub path_without {
    my ($c, $without, $psql) = @_;
    my $s = $c->{system};
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
    my ($c) = @_;
    my $s = $c->{system};
    my $create = [ qw(tenant create --slug tools --name x --owner a@b) ];
    my $n = $s->sql('SELECT count(*) FROM svc.credential');

    for ([ [ 'psql' ], qr/there is no psql/ ], [ [ 'sha256sum' ], qr/no SHA-256/ ],
         [ [ 'basenc' ], qr/no token/ ], [ [ 'head' ], qr/no token/ ])
    {
        my ($without, $message) = @$_;
        my ($out, $rc, $err) = $c->svcctl(path_without($c, $without), @$create);

        isnt($rc, 0, "without @$without");
        is($out, '', 'no output');
        like($err, $message, 'says so');
    }

    for my $psql ('cat > /dev/null', 'cat > /dev/null; echo no answer',
                  'cat > /dev/null; echo; echo 1', 'exit 1', 'kill -9 $$')
    {
        my $path = path_without($c, [], $psql);

        for my $args ($create, [ 'migrate' ], [ 'status' ],
                      [ qw(token create --tenant globex --name x --permissions
                           audit:view) ],
                      [ qw(scim-token create --tenant globex --name x) ],
                      [ qw(token revoke --tenant globex --id x) ],
                      [ qw(access-policy reset --tenant globex) ],
                      [ qw(federation release --tenant globex) ],
                      [ qw(sign-ins retain --days 1) ])
        {
            my ($out, $rc, $err) = $c->svcctl($path, @$args);

            isnt($rc, 0, "svcctl @$args, psql: $psql");
            is($out, '', 'no output');
            like($err, qr/^svcctl: PostgreSQL/m, 'says so');
        }
    }

    is($s->sql('SELECT count(*) FROM svc.credential'), $n, 'nothing was stored');

    my ($out, $rc, $err) = $c->svcctl(path_without($c, [ 'openssl' ]), @$create);
    is($rc, 0, 'without openssl') or diag($err);
    is(scalar(() = $out =~ /_[\w-]{43}$/mg), 2, 'it works');
    $s->secret($out =~ /\b((?:svc|scim)_[\w-]{43})/g);
}
