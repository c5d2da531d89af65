package SvcTest::Governance;

# What the tests of governance share.

use strict;
use warnings;

use Exporter qw(import);
use Test::More;

use SvcTest::Admin;

our @EXPORT = qw(@PERMISSIONS $ALL governed unchanged refused events at_once
                 only_with accounted);

our @PERMISSIONS = qw(apps:manage audit:view groups:manage members:manage
                      roles:manage tenant:manage users:view);
our $ALL = join ',', @PERMISSIONS;


# A text that changes with anything of a tenant's governance, or its log.

sub governed {
    my ($s, $tenant) = @_;

    my $of = "WHERE tenant_id = '$tenant->{id}'";

    return $s->sql(<<"EOT");
SELECT (SELECT g::text FROM svc.governance g $of)
       || (SELECT md5(coalesce(string_agg(r::text, ' ' ORDER BY key), ''))
           FROM svc.role r $of)
       || (SELECT md5(coalesce(string_agg(p::text, ' ' ORDER BY group_id), ''))
           FROM svc.group_password_policy p $of)
       || (SELECT count(*) FROM svc.audit_event $of)
EOT
}


# Does something that is to change nothing of it; what it returns.

sub unchanged {
    my ($s, $tenant, $name, $do) = @_;

    my $before = governed($s, $tenant);
    my $done = $do->();

    is(governed($s, $tenant), $before, "$name: nothing has changed");

    return $done;
}


# A request that gets 400, with a message that names a member, and changes
# nothing.

sub refused {
    my ($s, $tenant, $member, $name, $do) = @_;

    my $error = unchanged($s, $tenant, $name, sub {
        admin_error($do->(), 400, 'invalid_request', $name)
    });

    like($error->{message}, qr/"\Q$member\E"/, "$name: it is named");
}


# The events of a tenant since the last call: action, type, id and name of the
# target, details.

my %seen;

sub events {
    my ($s, $tenant) = @_;

    my @rows = $s->sql('SELECT id, action, target_type, target_id, target_name,'
                       . ' details FROM svc.audit_event WHERE tenant_id ='
                       . " '$tenant->{id}' AND id > "
                       . ($seen{$tenant->{id}} // 0) . ' ORDER BY id');

    $seen{$tenant->{id}} = $rows[-1][0] if @rows;

    return [ map { [ @$_[1 .. 5] ] } @rows ];
}


# Requests of one token at the same time, each an array of method, path, body
# and headers; their answers.

sub at_once {
    my ($s, $token, @requests) = @_;

    my @c = map { $s->connection } @requests;

    for my $i (0 .. $#c) {
        my ($method, $path, $body, @headers) = @{ $requests[$i] };

        $c[$i]->send($c[$i]->format($method, "/v1/admin$path",
            [ Authorization => "Bearer $token", @headers ],
            defined $body ? SvcTest::encode($body) : undef));
    }

    return map { $_->read } @c;
}


# A request needs one permission, and no other will do.

sub only_with {
    my ($s, $tenant, $permission, @requests) = @_;

    my %token = map { $_ => $tenant->token(kind => 'api', permissions => $_)
                            ->{token} } @PERMISSIONS;

    for my $request (@requests) {
        my ($method, $path, $body) = @$request;
        my @with = grep {
            $tenant->admin($method, $path, $body, undef, $token{$_})->status
                != 403
        } @PERMISSIONS;

        is("@with", $permission, "$method $path needs $permission");
    }
}


# Each change of a tenant's governance has moved the revision once, and has an
# event.

sub accounted {
    my ($s, $tenant) = @_;

    my ($row) = $s->sql(<<"EOT");
SELECT revision - 1,
       (SELECT count(*) FROM svc.audit_event WHERE tenant_id = '$tenant->{id}'
        AND action ~ '^(role|(risk|password|group_password)_policy)[.]')
FROM svc.governance WHERE tenant_id = '$tenant->{id}'
EOT

    is($row->[0], $row->[1], 'as many events as there were changes');
    cmp_ok($row->[0], '>', 9, 'which were some');
}


1;
