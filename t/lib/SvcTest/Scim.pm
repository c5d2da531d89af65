package SvcTest::Scim;

# Tests of what every SCIM answer must look like (RFC 7643, RFC 7644).

use strict;
use warnings;

use Exporter qw(import);
use JSON::PP ();
use Test::More;

our @EXPORT = qw(U E PATCH_OP LIST ERROR scim_ok scim_error scim_user scim_list
    names patch_op true false);

use constant U => 'urn:ietf:params:scim:schemas:core:2.0:User';
use constant E => 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
use constant PATCH_OP => 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
use constant LIST => 'urn:ietf:params:scim:api:messages:2.0:ListResponse';
use constant ERROR => 'urn:ietf:params:scim:api:messages:2.0:Error';

my $TIME = qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/;
my $UUID = qr/\A[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\z/;


sub true {
    return JSON::PP::true;
}


sub false {
    return JSON::PP::false;
}


sub report {
    my ($r, $name, @wrong) = @_;

    my $well = ok(!@wrong, $name);

    diag(map { "$_\n" } @wrong,
         $r ? "answer: $r->{status} " . substr $r->{body}, 0, 600
            : 'no answer') if !$well;

    return $well;
}


# Returns what is wrong with the head of a SCIM answer.

sub head_faults {
    my ($r, $status) = @_;

    return 'no answer' if !$r;

    my @wrong;
    my $type = $r->header('content-type') // 'none';

    push @wrong, "status is $r->{status}, not $status"
        if $r->{status} != $status;

    push @wrong, "content type is $type"
        if $status != 204 && $type ne 'application/scim+json';

    push @wrong, 'no X-Request-Id'
        if ($r->header('x-request-id') // '') !~ /\A[0-9a-f]{32}\z/;

    push @wrong, 'no content length or chunks'
        if $status != 204 && !defined $r->header('content-length')
           && !defined $r->header('transfer-encoding');

    return @wrong;
}


# Tests an answer with this status and a JSON object, or none for 204.

sub scim_ok {
    my ($r, $status, $name) = @_;

    my @wrong = head_faults($r, $status);

    if (!@wrong && $status == 204) {
        push @wrong, 'has a body' if length $r->{body};

    } elsif (!@wrong) {
        push @wrong, 'the body is no JSON object'
            if ref $r->json ne 'HASH';
    }

    return report($r, $name, @wrong);
}


# Tests an error in SCIM's envelope (RFC 7644, 3.12); type undef: no scimType.

sub scim_error {
    my ($r, $status, $type, $name) = @_;

    return report($r, $name, error_faults($r, $status, $type));
}


sub error_faults {
    my ($r, $status, $type) = @_;

    my @wrong = head_faults($r, $status);
    my $e = $r ? $r->json : undef;

    return (@wrong, 'the body is no JSON object') if ref $e ne 'HASH';

    push @wrong, 'schemas is not that of an error'
        if ref $e->{schemas} ne 'ARRAY' || "@{ $e->{schemas} }" ne ERROR;

    push @wrong, 'status is not the status as a string'
        if $r->{body} !~ /"status"\s*:\s*"$status"/;

    push @wrong, 'no detail' if !defined $e->{detail} || $e->{detail} eq '';

    push @wrong, 'scimType is ' . ($e->{scimType} // 'absent') . ', not '
                 . ($type // 'absent')
        if ($e->{scimType} // '') ne ($type // '');

    push @wrong, 'a message of PostgreSQL leaks'
        if ($e->{detail} // '') =~ /syntax for type|constraint|relation|svc\./;

    push @wrong, 'more members: ' . join ' ', sort keys %$e
        if grep { !/^(?:schemas|status|detail|scimType)$/ } keys %$e;

    push @wrong, 'no WWW-Authenticate: Bearer'
        if $status == 401
           && ($r->header('www-authenticate') // '') !~ /^Bearer\b/;

    push @wrong, 'no Allow'
        if $status == 405 && !length($r->header('allow') // '');

    push @wrong, 'no Retry-After in seconds'
        if $status == 503 && ($r->header('retry-after') // '') !~ /^\d+$/;

    return @wrong;
}


# Returns what is wrong with a user resource, apart from the values of
# attributes.

sub user_faults {
    my ($user, $base) = @_;

    my $meta = ref $user->{meta} eq 'HASH' ? $user->{meta} : {};
    my @wrong;

    push @wrong, 'id is no UUID' if ($user->{id} // '') !~ $UUID;

    push @wrong, 'meta.location is ' . ($meta->{location} // 'absent')
        if ($meta->{location} // '')
           ne "$base/scim/v2/Users/" . ($user->{id} // '');

    push @wrong, 'meta.resourceType is not User'
        if ($meta->{resourceType} // '') ne 'User';

    for my $name (qw(created lastModified)) {
        push @wrong, "meta.$name is " . ($meta->{$name} // 'absent')
            if ($meta->{$name} // '') !~ $TIME;
    }

    push @wrong, 'active is no boolean'
        if !JSON::PP::is_bool($user->{active});

    my $emails = ref $user->{emails} eq 'ARRAY' ? $user->{emails} : [];

    push @wrong, 'emails is not one primary entry with the userName'
        if @$emails != 1 || ref $emails->[0] ne 'HASH'
           || ($emails->[0]{value} // '') ne ($user->{userName} // '')
           || !$emails->[0]{primary}
           || !JSON::PP::is_bool($emails->[0]{primary});

    push @wrong, null_faults('', $user);

    return @wrong;
}


# Checks that cleared fields are left out, and that nothing is empty.

sub null_faults {
    my ($path, $value) = @_;

    return map { my $v = $value->{$_};
                 my $at = $path eq '' ? $_ : "$path.$_";
                 !defined $v           ? "$at is null"
                 : ref $v eq 'HASH'    ? (%$v ? null_faults($at, $v)
                                              : "$at is empty")
                 : ref $v eq 'ARRAY'   ? (@$v ? () : "$at is empty")
                 : $v eq ''            ? "$at is empty" : () }
           sort keys %$value;
}


# Checks the location of a user: RFC 7643, 3.1, and for a new one also RFC 7644,
# 3.3.

sub location_faults {
    my ($r, $location) = @_;

    my @names = ('content-location', $r->status == 201 ? 'location' : ());

    return map { "$_ is " . ($r->header($_) // 'absent') . ", not $location" }
           grep { ($r->header($_) // '') ne $location } @names;
}


# Tests a user with exactly these attributes besides id, meta and emails.
#  schemas follows from whether there is a department.  name.formatted may be
# there, as another name of displayName.

sub scim_user {
    my ($user, $base, $expected, $name) = @_;

    my $r = ref $user eq 'SvcTest::Response' ? $user : undef;
    $user = $r->json if $r;

    if (ref $user ne 'HASH') {
        return report($r, $name, 'the resource is no object');
    }

    my %want = (active => true, %$expected);
    my %got = map { $_ => $user->{$_} }
              grep { !/^(?:id|meta|emails|schemas)$/ } keys %$user;

    if (ref $got{name} eq 'HASH' && defined $got{displayName}
        && ($got{name}{formatted} // '') eq $got{displayName})
    {
        $got{name} = { %{ $got{name} } };
        delete $got{name}{formatted};
        delete $got{name} if !%{ $got{name} };
    }

    my $department = delete $want{department};
    $want{E()} = { department => $department } if defined $department;

    my @schemas = (U, defined $department ? E : ());
    my @wrong = user_faults($user, $base);

    push @wrong, 'schemas is wrong'
        if join(' ', sort @{ $user->{schemas} // [] })
           ne join(' ', sort @schemas);

    my $json = JSON::PP->new->canonical->utf8;
    my ($is, $should) = map { $json->encode($_) } \%got, \%want;

    push @wrong, "is     $is", "should $should" if $is ne $should;
    push @wrong, location_faults($r, $user->{meta}{location}) if $r;

    return report($r, $name, @wrong);
}


# Tests a list (RFC 7644, 3.4.2) whose resources satisfy user_faults().  names()
# returns the user names in order.

sub scim_list {
    my ($r, $base, $count, $name) = @_;

    my @wrong = head_faults($r, 200);
    my $list = $r ? $r->json : undef;

    if (ref $list ne 'HASH') {
        return report($r, $name, @wrong, 'the body is no JSON object');
    }

    push @wrong, 'schemas is not that of a list'
        if join(' ', @{ $list->{schemas} // [] }) ne LIST;

    push @wrong, 'Resources is no array'
        if ref $list->{Resources} ne 'ARRAY';

    my @resources = @{ $list->{Resources} // [] };

    push @wrong, scalar(@resources) . " resources, not $count"
        if @resources != $count;

    # integers, not strings

    push @wrong, "$_->[0] is not the integer $_->[1]"
        for grep { $r->{body} !~ /"$_->[0]"\s*:\s*$_->[1]\s*[,}]/ }
            [ totalResults => $count ], [ itemsPerPage => $count ],
            [ startIndex => 1 ];

    if (defined $base) {
        for my $user (@resources) {
            my @faults = user_faults($user, $base);
            push @wrong, map { ($user->{userName} // '?') . ": $_" } @faults;
        }
    }

    return report($r, $name, @wrong);
}


sub names {
    my ($r) = @_;

    return join ' ', map { $_->{userName} // '' } @{ $r->json->{Resources} };
}


sub patch_op {
    my (@operations) = @_;

    return { schemas => [ PATCH_OP ], Operations => [ @operations ] };
}


1;
