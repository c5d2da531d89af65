#!/usr/bin/perl

# Outbound SCIM: many new users are looked up with one filter.  Existing
# accounts are taken over, and none is created twice, even where the target
# would allow it.  A target that does not understand such a filter, or only a
# part of it, is asked for each user.

use strict;
use warnings;

use List::Util qw(max uniq);
use Test::More;

use SvcTest;
use SvcTest::Outbound;
use SvcTest::Process qw(slurp wait_for);


my $N = 60;
my $MANY = 10_000;
my %port = map { $_ => SvcTest::Nginx::free_port() } qw(rfc spec);
my $s = SvcTest->new(workers => 1);
my $out = SvcTest::Outbound->new($s, svc_webhook_timeout => '2s');
my $there = $out->there;
my $log = "$s->{dir}/there.log";

$s->nginx->{http} = qq(log_format there "\$server_port \$request_uri";\n)
                    . join '', map { <<"EOT" } sort keys %port;
    server {
        listen 127.0.0.1:$port{$_} ssl;
        ssl_certificate $out->{receiver}{dir}/good.pem;
        ssl_certificate_key $out->{receiver}{dir}/good.key;
        access_log $log there;

        location /scim/v2 { svc_scim on; svc_scim_mode $_; }
    }
EOT

my $acme = $out->start;
my @ids = $acme->add_users($N);
my $SEVERAL = '%20or%20';


# Returns the users of a store before the first push: every third one, with the
# name in another case; every tenth one has another name, and is found by the
# id.

sub some {
    return map { $_ % 10 == 0 ? { id => "there-$_", userName => "old$_\@acme.test",
                                  externalId => $ids[$_ - 1], active => \1 }
               : $_ % 3 == 0 ? { id => "there-$_", userName => "USER$_\@acme.test",
                                 active => \1 } : () } 1 .. $N;
}


sub all_synced {
    my ($t, $n, $name) = @_;

    ok((wait_for { $out->items($t, "state = 'synced'") == $n } 60), "$name: all are there")
        or diag($out->items($t, "state = 'synced'") . ' '
                . ($out->row($t, 'row_to_json(scim_target)') // ''));
}


# Tests that each user has one account at a store, the existing one if there was
# one.

sub once {
    my ($store, $before, $name) = @_;
    my @names = map { lc $_->{userName} } $there->users($store);

    is(scalar @names, $N, "$name: nobody is there twice");
    is_deeply([ sort @names ], [ sort map { "user$_\@acme.test" } 1 .. $N ],
              "$name: they are who they are to be");
    is(scalar(grep { $_->{id} =~ /^there-/ } $there->users($store)), $before,
       "$name: whoever was there still is");
}


# --- a target that reads such a filter ------------------------------------------------------

{
    my @some = some();

    $there->users('reads', @some);

    my $t = $out->target('reads/dupes');

    all_synced($t, $N, 'read');
    once('reads', scalar @some, 'read');

    my @several = $out->asked('reads', $SEVERAL);
    my @lookups = $out->asked('reads', 'filter=');

    cmp_ok(scalar @several, '>', 0, 'several are looked up at once');
    cmp_ok(scalar @several, '<=', $N / 6, 'as many as there is room for');

    # on a busy machine users come one at a time, and are looked up alone

    cmp_ok(scalar(@lookups) - @several, '<', 2 * $N, 'by themselves not all of them');

    cmp_ok(max(map { length $there->url('reads/dupes') . $_->{url} } @several), '<=', 2000,
           'no URL is too long');
    is(scalar $out->asked('reads', 'POST'), $N - @some, 'the others are made');
    is((scalar grep { $_->{url} !~ /count=\d+/ } @several), 0, 'and a page is long enough');
    $out->forget($t);
}


# --- targets that do not read it ------------------------------------------------------------

# Such a target gets this filter once, and not again for a while.

for my $mode (qw(noor=400 noor=403 noor=413 noor=414 noor=500 noor=501 hung first last
                 middle all paged=3 stranger)) {
    my $store = $mode =~ tr/=/-/r;
    my @some = some();

    $there->users($store, @some);

    my $t = $out->target("$store/dupes;$mode");

    all_synced($t, $N, $mode);
    once($store, scalar @some, $mode);
    is(scalar $out->asked($store, $SEVERAL), 1, "$mode: it is not asked so again");
    isnt($out->row($t, 'failures'), undef, "$mode: it is there");
    is($out->row($t, 'failures'), 0, "$mode: and does not fail");
    $out->forget($t);
}

# These targets have no users who could be mistaken for others.

for my $mode (qw(blind bare double)) {
    my $t = $out->target("$mode/$mode" . ($mode eq 'bare' ? ';blind' : ''));

    all_synced($t, $N, $mode);
    is(scalar $there->users($mode), $N, "$mode: all are made");
    is(scalar $out->asked($mode, $SEVERAL), 1, "$mode: it is not asked so again");
    $out->forget($t);
}

# A page that is full shows some matching users, and hides others.

{
    my @all = map { { id => "there-$_", userName => "USER$_\@acme.test", active => \1 } }
              1 .. $N;

    $there->users('short', @all);

    my $t = $out->target('short/dupes;short=10');

    all_synced($t, $N, 'short');
    once('short', $N, 'short');
    is(scalar $out->asked('short', $SEVERAL), 1, 'short: it is not asked so again');
    $out->forget($t);
}

# A first 429 pauses the target, a second one ends the use of the filter.

{
    my $t = $out->target('pause/noor=429;after=1');

    all_synced($t, $N, 'pauses');
    is(scalar $out->asked('pause', $SEVERAL), 2, 'it is asked so once more after a pause');
    $out->forget($t);
}

# The target loses its users: this looks like a filter that is not understood.

{
    my $t = $out->target('gone/gate=POST');

    $out->wait_asked('gone', 'POST', 'the first ones are on their way');
    $there->open_gate('gone');
    all_synced($t, $N, 'gone');

    my $before = $out->asked('gone', $SEVERAL);

    cmp_ok($before, '>', 0, 'several were looked up at once');
    $there->users('gone', { id => 'x', userName => 'x@acme.test' });
    $s->sql("INSERT INTO svc.user_account (tenant_id, id, user_name)"
            . " SELECT '$acme->{id}', gen_random_uuid(), 'more' || i || '\@acme.test'"
            . " FROM generate_series(1, $N) i");
    is($acme->admin(POST => "/scim-targets/$t/sync")->status, 202, 'a sync');
    all_synced($t, 2 * $N, 'after that');
    is(scalar(uniq(map { lc $_->{userName} } $there->users('gone'))),
       scalar $there->users('gone'), 'nobody is there twice');
    $out->forget($t);
    $s->sql("DELETE FROM svc.user_account WHERE tenant_id = '$acme->{id}'"
            . " AND user_name LIKE 'more%'");
}


# --- our own, with ten thousand users --------------------------------------------------------

for my $name (sort keys %port) {
    my $globex = $out->tenant("globex-$name");

    $globex->add_users($MANY);
    $s->sql("INSERT INTO svc.user_account (tenant_id, id, user_name, source)"
            . " SELECT '$globex->{id}', gen_random_uuid(), user_name, 'scim'"
            . " FROM svc.user_account WHERE tenant_id = '$acme->{id}'"
            . " ORDER BY id LIMIT 7");
    $s->sql('VACUUM (ANALYZE) svc.user_account');

    my $client = sprintf 'app_%032d', 900 + length $name;

    $acme->add_applications(web => $client);

    my $r = $acme->admin(POST => '/scim-targets',
                         { clientId => $client, name => 'Globex',
                           token => $globex->{scim_token},
                           baseUrl => "https://127.0.0.1:$port{$name}/scim/v2" });

    is($r->status, 201, "$name: a target") or diag($r->body);

    my $t = $r->json->{id};

    all_synced($t, $N, $name);
    is($s->sql('SELECT count(*) FROM svc.user_account a JOIN svc.user_account b'
               . ' ON b.external_id = a.id::text AND b.user_name = a.user_name'
               . " WHERE a.tenant_id = '$acme->{id}' AND b.tenant_id = '$globex->{id}'"),
       $N, "$name: each as who he is");
    is($s->sql('SELECT count(*) FROM svc.user_account'
               . " WHERE tenant_id = '$globex->{id}'"), $MANY + $N, "$name: once");

    my @lines = grep { /^$port{$name} / } split /\n/, slurp($log);
    my $several = grep { index($_, $SEVERAL) > 0 } @lines;
    my $filters = grep { /filter=/ } @lines;

    if ($name eq 'rfc') {
        cmp_ok($several, '>', 0, 'rfc: several are looked up at once');
        cmp_ok($filters, '<', $N, 'rfc: with fewer requests than there are users');

    } else {
        is($several, 1, 'spec: whose list is what it was not asked for');
        cmp_ok($filters, '>', $N, 'spec: it is asked user by user');
    }

    $out->forget($t);
}

$s->done;

done_testing();
