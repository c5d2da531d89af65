#!/usr/bin/perl

# The console has words for each code by which the modules say why a sign-in was refused:
# those that are in the details of events of the audit log.  t/console_lint.t shows that
# other languages have the same.

use strict;
use warnings;

use Test::More;

use SvcTest::Process qw(slurp);

my $WORDS = 'conf/www/svc/console/cause.en.js';
my $CODE = qr/[a-z][a-z_]+/;

my %c = map { $_ => slurp($_) } split /\n/, `find ngx_svc_admin -name '*.[ch]'`;
my %sql = map { $_ => slurp($_) } split /\n/, `find ngx_svc_admin -name '*.sql'`;
my $all = join "\n", map { $c{$_} } sort keys %c;


sub once { return sort keys %{ { map { $_ => 1 } @_ } } }

# The names of a part of the words.

sub said {
    my ($part) = @_;
    my ($text) = slurp($WORDS) =~ /^  $part: \{\n(.*?)^  \},$/ms
        or die "$WORDS has no $part\n";

    return once($text =~ /(?:^|, ?| )($CODE): "/mg);
}

# The codes of a table of structs of which one member has this name.

sub tables {
    my ($member) = @_;

    return map { /ngx_string\("($CODE)"\)/g }
           $all =~ /^    (?:static const )?struct \{[^}]*\bngx_str_t +$member;[^}]*\}\s*\w+\[\] = \{(.*?)^    \};/msg;
}


# --- why a sign-in was refused ----------------------------------------------------------

my ($reasons) = $c{'ngx_svc_admin/signin/ngx_svc_login_failure.c'}
                =~ /ngx_svc_login_reasons\[\] = \{(.*?)\}/s;
my @enum = $reasons =~ /"($CODE)"/g;
my @set = $all =~ /ngx_str_set\(&?[\w.>-]*\breason,\s*"($CODE)"\)/g;
my @directory = tables('reason');

cmp_ok(scalar @enum, '>=', 7, 'a sign-in says why it fails');
cmp_ok(scalar @set, '>=', 8, '... and its methods do');
cmp_ok(scalar @directory, '>=', 5, '... and a directory does');

# of connections, beside sentences of the provider, which are no codes

my @stops = tables('why');
my @barred = map { $all =~ /static const ngx_str_t +$_ = ngx_string\("($CODE)"\)/g }
             map { /(\w+)/g } $all =~ /flow->why = [^;]*\? ([^;]*);/g;

cmp_ok(scalar @stops, '>=', 10, 'a connection says why');
is(scalar @barred, 2, '... and a policy for it');

# of tokens that were presented again

my @replayed = $all =~ /\.replayed = ngx_string\("($CODE)"\)/g;

is(scalar @replayed, 2, 'a grant ends by what came again');

# in SQL

my @sql = map { /THEN '($CODE)'|ELSE '($CODE)'/g }
          map { /jsonb_build_object\('reason',\s*CASE(.*?)END/sg } values %sql;

is(scalar(grep { defined } @sql), 2, 'a statement chooses between two');

my @codes = once(grep { defined } @enum, @set, @directory, @stops, @barred, @replayed, @sql);

is_deeply([ said('causes') ], \@codes, 'the console has words for each of them, and no others');


# --- how it is set ----------------------------------------------------------------------

# What sets a reason in another way than those above is not looked at: there is nothing
# else, but for the name of a method, and what a table has.

my @other = $all =~ /^( *\S*\b(?:written\.reason|flow->why) = .*)$/mg;

is_deeply([ sort map { s/^\s+//r } @other ],
          [ 'flow->why = flow->login.reason == NGX_SVC_LOGIN_BLOCKED ? blocked : policy;',
            'flow->why = stops[flow->match].why;',
            'step->factor.login.written.reason = step->method->name;' ],
          'a reason is set in no other way')
    or diag(join "\n", @other);


# --- by what, and what was unusual ------------------------------------------------------

my @methods = once($all =~ /^    \.name = ngx_string\("($CODE)"\),\n(?:    \.\w+ = .*\n)*?    \.stepup = /mg);

is_deeply([ said('methods') ], \@methods, 'methods have names');

my @signals = once(($c{'ngx_svc_admin/signin/ngx_svc_risk.h'} =~ /_\([A-Z_]+, "($CODE)"/g));

cmp_ok(scalar @signals, '>=', 9, 'there are signals of risk');
is_deeply([ once(slurp('conf/www/svc/console/signals.en.js') =~ /^  ($CODE): "/mg) ], \@signals,
          '... and each has words');

done_testing();
