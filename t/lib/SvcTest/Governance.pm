package SvcTest::Governance;

# What the tests of governance share.

use strict;
use warnings;

use Exporter qw(import);
use Test::More;

use SvcTest::Admin;

our @EXPORT = qw(@PERMISSIONS $ALL governed unchanged refused at_once only_with
                 accounted);

our @PERMISSIONS = qw(apps:manage audit:view groups:manage members:manage
                      roles:manage tenant:manage users:view);
our $ALL = join ',', @PERMISSIONS;


# Returns a text that changes with every change of a tenant's governance, or of
# its log.

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


# Does something that must change nothing of a tenant's governance.  Returns its
# value.

sub unchanged {
    my ($s, $tenant, $name, $do) = @_;

    my $before = governed($s, $tenant);
    my $done = $do->();

    is(governed($s, $tenant), $before, "$name: nothing has changed");

    return $done;
}


# Tests that a request gets 400, with a message that names a member, and changes
# nothing.

sub refused {
    my ($s, $tenant, $member, $name, $do) = @_;

    my $error = unchanged($s, $tenant, $name, sub {
        admin_error($do->(), 400, 'invalid_request', $name)
    });

    like($error->{message}, qr/"\Q$member\E"/, "$name: it is named");
}


# Sends requests with one token at the same time, each an array of method, path,
# body and headers.  Returns their answers.

sub at_once {
    my ($s, $token, @requests) = @_;

    my @c;

    for my $request (@requests) {
        my ($method, $path, $body, @headers) = @$request;

        push @c, $s->begin($method, "/v1/admin$path",
                           [ Authorization => "Bearer $token", @headers ],
                           $body);
    }

    return map { $_->read } @c;
}


# Tests that a request needs one permission, and that no other will do.

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


# Tests that each change of a tenant's governance has moved the revision once,
# and has an event.

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
