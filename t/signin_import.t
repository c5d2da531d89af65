#!/usr/bin/perl

# Passwords that users had elsewhere: hashes of other software are imported,
# their users sign in, and are hashed anew and sealed then.

use strict;
use warnings;

use FindBin;
use IPC::Open2 qw(open2);
use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser;
use SvcTest::Process qw(write_file);
use SvcTest::Skip;

needs(python => 'argon2');

my $JSON = JSON::PP->new->utf8->canonical;
my $s = SvcTest->new(svc => { svc_sign_in => 'on',
                              svc_password_hash => 'timeout=60s' })->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my $file = $s->dir . '/users.jsonl';


# --- hashes, as others make them -----------------------------------------------------

# Debian's Python, with the package python3-argon2
my $pid = open2(my $from, my $to, '/usr/bin/python3',
                "$FindBin::Bin/oracle/password_oracle.py");
$to->autoflush(1);


sub python {
    my ($password, @what) = @_;

    print {$to} join(' ', @what, unpack 'H*', $password), "\n";
    my $hash = <$from> // die "no answer to @what\n";
    chomp $hash;

    return $hash;
}


sub bcrypt {
    my ($password, $variant, $cost) = @_;

    return crypt($password, sprintf '$%s$%02d$%s', $variant, $cost,
                            'abcdefghijklmnopqrstuu')
           // die "crypt() does not make bcrypt's\n";
}


sub password { return "the lighthouse of $_[0]" }


# A hash with our parameters, and others; name => hash.

my %ours = (same => python(password('same'), qw(argon2 id 19456 2 1 16 32)));
my %others = (
    argon2id => python(password('argon2id'), qw(argon2 id 1024 3 4 16 32)),
    argon2i => python(password('argon2i'), qw(argon2 i 4096 2 1 8 16)),
    bcrypt2a => bcrypt(password('bcrypt2a'), '2a', 5),
    bcrypt2b => bcrypt(password('bcrypt2b'), '2b', 12),
    bcrypt2y => bcrypt(password('bcrypt2y'), '2y', 4),
    sha256 => python(password('sha256'), qw(pbkdf2 sha256 29000)),
    sha512 => python(password('sha512'), qw(pbkdf2 sha512 25000)),
);
my %all = (%ours, %others);

close $to;
waitpid $pid, 0;
$s->secret(map { $all{$_}, password($_) } keys %all);


# --- imports ---------------------------------------------------------------------------

sub import_of {
    my ($slug, @lines) = @_;

    write_file($file, join '', map { (ref $_ ? $JSON->encode($_) : $_) . "\n" }
                                   @lines);

    return $s->svcctl(qw(users import --tenant), $slug, '--file', $file,
                      '--passwords');
}


sub line_of {
    my ($name, $hash) = @_;

    return { email => "$name\@acme.test", passwordHash => $hash // $all{$name} };
}


sub said {
    return sprintf "imported %d passwords; %d users have one already; %d e-mail"
                   . " addresses are not in the directory\n", @_;
}


sub stored {
    my ($name, $column) = @_;

    return scalar $s->sql("SELECT $column FROM svc.password p JOIN svc.user_account u"
                          . ' ON u.tenant_id = p.tenant_id AND u.id = p.user_id'
                          . " WHERE u.user_name = '$name\@acme.test'");
}


sub login {
    my ($name, $password) = @_;

    return SvcTest::Browser->new($s, tenant => 'acme')
           ->login("$name\@acme.test", $password // password($name))->status;
}


$acme->create(userName => "$_\@acme.test") for sort keys %all;
$globex->create(userName => 'same@acme.test');

is(import_of('acme', line_of('same'), { email => 'nobody@acme.test',
                                        passwordHash => $all{same} }),
   said(1, 0, 1), 'one like ours: no advice');
is(stored('same', "convert_from(hash, 'UTF8')"), $all{same}, 'stored as it is');
is($s->sql("SELECT count(*) FROM svc.password p JOIN svc.tenant t"
           . " ON t.id = p.tenant_id WHERE t.slug = 'globex'"), 0,
   'and nobody of another tenant');
is_deeply([ $acme->events_where("action = 'password.changed'", 'details') ],
          [ [ { source => 'svcctl' } ] ], 'audited');

my $text = import_of('acme', '', map { line_of($_) } sort keys %others);
my ($floor) = $text =~ /floor=(\d+)ms;$/m;

like($text, qr/\A\Q@{[ said(7, 0, 0) ]}\E/, 'others');
is($floor, 400, 'the floor of the slowest, bcrypt with 2^12 rounds');
unlike($text, qr/\$/, 'and no hash');

like(import_of('acme', line_of('sha512')), qr/\A\Q@{[ said(0, 1, 0) ]}\E/,
     'once more');
is(stored('sha512', 'version'), 1, 'changes nothing');

import_of('acme', { email => 'BCRYPT2Y@acme.test', other => [ 1 ],
                    passwordHash => bcrypt(password('x'), '2y', 5) });
import_of('acme', line_of('bcrypt2y'));
is(stored('bcrypt2y', 'version'), 3, 'another hash, and the first one again');


# --- they sign in ------------------------------------------------------------------------

for my $name (sort keys %all) {
    is(login($name, 'the lighthouse'), 401, "$name: another password");
    is(stored($name, "convert_from(hash, 'UTF8')"), $all{$name},
       "$name: which changes nothing");
    is(login($name), 200, "$name: signs in");
}

# a password set here has the length that theirs have now

$acme->create(userName => 'reset@acme.test');

my ($token) = $s->svcctl(qw(user reset-link --tenant acme --email),
                         'reset@acme.test') =~ /^token  (\S+)$/m;

$s->secret($token, 'a harbour before dawn');
is(SvcTest::Browser->new($s, tenant => 'acme')
       ->post('/v1/auth/password/reset',
              { token => $token, tenant => 'acme',
                password => 'a harbour before dawn' })->status, 204, 'a password');

my $sealed = stored('reset', 'octet_length(hash)');

for my $name (sort keys %others) {
    isnt(stored($name, 'get_byte(hash, 0)'), ord '$', "$name: is sealed");
    is(stored($name, 'octet_length(hash)'), $sealed, "$name: as argon2id");
    is(login($name), 200, "$name: is still the same password");
    is(login($name, 'the lighthouse'), 401, "$name: no other one is");
}

# a user who has signed in has a password of ours, which an import does not
# replace

my $before = stored('bcrypt2b', 'hash');

like(import_of('acme', map { line_of($_) } sort keys %others),
     qr/\A\Q@{[ said(0, 7, 0) ]}\E/, 'the same file, later');
is(stored('bcrypt2b', 'hash'), $before, 'changes nothing');

is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');

$s->done;
done_testing();
