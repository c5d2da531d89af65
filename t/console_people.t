#!/usr/bin/perl

# Users, groups and roles in the console: people find, change, suspend and erase users,
# make groups and roles, and lose nothing of what they have typed.

use strict;
use utf8;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Console;
use SvcTest::Process qw(wait_for);

binmode Test::More->builder->$_, ':encoding(UTF-8)'
    for qw(output failure_output todo_output);

my $s = SvcTest->new;
my $c = SvcTest::Console->new($s);
my $page = $c->{page};

my $HOSTILE = '<img src=x onerror=alert(1)>';

$s->sql(<<"EOT");
INSERT INTO svc.user_account (tenant_id, id, user_name, status, role, source, display_name)
SELECT '$c->{acme}{id}', md5(i::text)::uuid, 'user' || i || '\@acme.test', 'active', 'member',
       'local', CASE i WHEN 3 THEN '$HOSTILE' WHEN 4 THEN 'Zero' || chr(8203) || 'width'
                       WHEN 5 THEN repeat('Long', 50) ELSE 'User ' || i END
  FROM generate_series(1, 120) i;
EOT


sub rows {
    my ($n, $name) = @_;

    ok(wait_for(sub { $page->do(count => 'main tbody tr') == $n
                      && $page->do(count => '.stale') == 0 }), $name);
}


# --- a list: its state is the address ---------------------------------------------------

$c->opens('', 'Users', 'the console begins with what one may see first');
rows(50, 'a page of users');
$page->do(type => 'Find', 'user1');
ok(wait_for(sub { $page->do('url') =~ /\?q=user1\z/ }), 'a search is in the address');
rows(32, '... of all that fit');

done_testing;
