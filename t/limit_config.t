#!/usr/bin/perl

# Shows which settings of sign-in nginx -t takes, by svc_set and from the environment.
# Their ranges are those of the document.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Documents qw(section);
use SvcTest::Process qw(wait_for wait_exit spawn signal_pid subreaper slurp);


my $s = SvcTest->new(pg => 0, redis => 0);
my $nginx = $s->nginx;
my %svc = %{ $nginx->{svc} // {} };

my @NAMES;
my %row;

for (section('conf/directives.md', 'Settings of sign-in')
     =~ /^(\| `[A-Z_]+` \|.*\|)$/mg)
{
    my ($name, $unit, $default, $range, $zero) = split / *\| */, s/^\| //r;
    my ($min, $max) = $range =~ /^(\d+) to (\d+)$/ or die "$_\n";

    $name =~ tr/`//d;
    push @NAMES, $name;
    $row{$name} = { unit => $unit, default => $default, min => $min,
                    max => $max, off => $zero ne 'refused' };
}

is_deeply({ slurp('ngx_svc_admin/limit/ngx_svc_setting.c')
            =~ /ngx_string\("(\w+)"\), \S+,\n\s+(\d+),/g },
          { map { $_ => $row{$_}{default} } @NAMES },
          'all settings are documented, and their defaults');
cmp_ok(scalar @NAMES, '==', 17, 'these are');


sub check {
    my ($lines, $env) = @_;

    $nginx->{svc} = { %svc, svc_set => $lines };
    $nginx->{env} = $env // {};
    $nginx->write_configuration;

    return $nginx->test_configuration;
}


sub passes {
    my ($lines, $env, $what) = @_;
    my ($status, $text) = check($lines, $env);

    is($status, 0, $what) or diag($text);
}


sub fails {
    my ($lines, $env, $pattern, $what) = @_;
    my ($status, $text) = check($lines, $env);

    isnt($status, 0, $what);
    like($text, qr/\[emerg\].*$pattern/, 'and says what would be right');
}


sub range {
    my ($row) = @_;

    return ($row->{off} ? '0, which switches it off, or ' : '')
           . 'a whole number '
           . ($row->{unit} eq 'seconds' ? 'of seconds ' : '')
           . "from $row->{min} to $row->{max}";
}


# --- a setting that excludes the default of another -----------------------------

# Where two settings exclude each other the message tells both values.

for my $name (qw(SESSION_IDLE SESSION_PENDING)) {
    my $absolute = $row{$name}{default} - 1;
    my @others = grep { $_ ne $name } qw(SESSION_IDLE SESSION_PENDING);

    fails([ "SESSION_ABSOLUTE $absolute", map { "$_ 60" } @others ], {},
          "$name, of $row{$name}{default} seconds, must not be longer than "
          . "SESSION_ABSOLUTE, of $absolute seconds",
          "$name by default, and a shorter SESSION_ABSOLUTE");
}

fails([ 'SESSION_IDLE ' . ($row{SESSION_ABSOLUTE}{default} + 1) ], {},
      qr/than SESSION_ABSOLUTE, of $row{SESSION_ABSOLUTE}{default} seconds/,
      'SESSION_IDLE, and a shorter SESSION_ABSOLUTE by default');
fails([ 'SESSION_IDLE 7200' ], { SESSION_ABSOLUTE => 3600 },
      qr/SESSION_IDLE, of 7200 seconds, .* SESSION_ABSOLUTE, of 3600 seconds/,
      'one from the environment');


# --- ranges ---------------------------------------------------------------------

passes([ map { "$_ $row{$_}{default}" } @NAMES ], {}, 'all defaults');
passes([ map { "$_ $row{$_}{min}" } @NAMES ], {}, 'the least of all');
passes([ map { "$_ $row{$_}{max}" } @NAMES ], {}, 'the most of all');
passes([ map { "$_ 0" } grep { $row{$_}{off} } @NAMES ], {}, 'those off');
passes(undef, { map { $_ => $row{$_}{min} } @NAMES }, 'the environment');
passes(undef, { SESSION_IDL => 'x', session_idle => 'x' }, 'others in it');

for my $name (@NAMES) {
    my $row = $row{$name};
    my $range = range($row);

    for my $value ($row->{max} + 1,
                   $row->{off} ? () : 0, $row->{min} > 1 ? $row->{min} - 1 : ())
    {
        fails([ "$name $value" ], {},
              qr/"svc_set $name" must be $range, not "$value" in \S+:\d+/,
              "svc_set $name $value");
        fails(undef, { $name => $value },
              qr/environment variable $name must be $range, not "$value"/,
              "$name=$value");
    }
}


# --- what is no number, or no name -----------------------------------------------

for my $value ('5m', '300s', 'x', '-1', '+60', '1.5', '" 300"', '300x',
               '99999999999999999999', '""')
{
    my $text = $value =~ s/"//gr;

    fails([ "SESSION_IDLE $value" ], {},
          qr/"svc_set SESSION_IDLE" must be .*, not "\Q$text\E"/,
          "svc_set SESSION_IDLE $value");
    fails(undef, { SESSION_IDLE => $text },
          qr/environment variable SESSION_IDLE must be .*, not "\Q$text\E"/,
          "SESSION_IDLE=$text");
}

for my $name (qw(SESSION_IDL session_idle RATE_LIMIT_LOGIN PATH), '""') {
    my $text = $name =~ s/"//gr;
    my $all = join ', ', @NAMES;

    fails([ "$name 300" ], {},
          qr/"svc_set" knows no "$text": it is one of $all/, "svc_set $name");
}

fails([ 'SESSION_IDLE 300', 'SESSION_PENDING 300', 'SESSION_IDLE 300' ], {},
      qr/"svc_set SESSION_IDLE" is duplicate/, 'twice');
fails([ 'SESSION_IDLE' ], {}, qr/invalid number of arguments in "svc_set"/,
      'without a value');
fails([ 'SESSION_IDLE 300 SESSION_PENDING 300' ], {},
      qr/invalid number of arguments in "svc_set"/, 'two in one line');


# --- the directive goes before the environment ------------------------------------

passes([ 'SESSION_IDLE 300' ], { SESSION_IDLE => 'soon' },
       'the directive alone');


# --- memory -----------------------------------------------------------------------

$nginx->{env} = {};

for my $value ('64k', '4m', 65536) {
    $nginx->{svc} = { %svc, svc_rate_size => $value };
    $nginx->write_configuration;
    my ($status, $text) = $nginx->test_configuration;
    is($status, 0, "svc_rate_size $value") or diag($text);
}

for my $row ([ '63k', qr/"svc_rate_size" must be at least 64k/ ],
             [ 65535, qr/"svc_rate_size" must be at least 64k/ ],
             [ 0, qr/"svc_rate_size" must be at least 64k/ ],
             [ 'x', qr/"svc_rate_size" directive invalid value/ ],
             [ [ '4m', '4m' ], qr/"svc_rate_size" directive is duplicate/ ])
{
    my ($value, $pattern) = @$row;

    $nginx->{svc} = { %svc, svc_rate_size => $value };
    $nginx->write_configuration;
    my ($status, $text) = $nginx->test_configuration;
    isnt($status, 0, "svc_rate_size @{[ ref $value ? @$value : $value ]}");
    like($text, $pattern, 'and says what would be right');
}


# --- a new binary gets the environment that nginx was started with --------------

sub master {
    my $text = slurp("$s->{dir}/nginx.pid") // '';

    return $text =~ /^(\d+)\n/ && $1;
}


# nginx starts a new binary only when it is a daemon. Without the variable neither the
# old one nor the new one would take the configuration.

subreaper();

fails([ 'SESSION_ABSOLUTE 1000' ], {}, qr/SESSION_IDLE, of 1800 seconds/,
      'without the variable');
passes([ 'SESSION_ABSOLUTE 1000' ], { SESSION_IDLE => 600 }, 'with it');

$nginx->write_configuration($nginx->configuration
                            =~ s/^daemon off;/daemon on;/mr);

# nginx ignores USR2 while the process that started it is there.

my $starter = spawn($nginx->command, out => $nginx->{err},
                    env => $nginx->environment);

$nginx->take_pid(wait_for { master() });
is(wait_exit($starter), 0, 'who has started it ends');

my $old = $nginx->pid;
signal_pid('USR2', $old);
my $new = wait_for { master() && master() != $old && master() };
ok($new, 'a new binary has it');

signal_pid('QUIT', $old);
is(wait_exit($old), 0, 'the old one ends');
$nginx->take_pid($new);
is($nginx->quit, 0, 'and the new one');

done_testing();
