package SvcTest::Bundle;

# Config bundles: random ones, their canonical form, and other spellings of the
# same bundle, written without looking at how the modules do it.
#
# A bundle is a hash of its sections.  Random choices come from rand(): a test
# calls srand() and prints the seed.

use strict;
use warnings;

use Encode ();
use List::Util qw(shuffle);


our @PERMISSIONS = qw(apps:manage audit:view groups:manage members:manage
                      roles:manage tenant:manage users:view);
our @FIELDS = qw(minLength rejectBreached rejectContextual requireLower
                 requireUpper requireDigit requireSymbol historyCount
                 maxAgeDays);
our @SECTIONS = qw(accessPolicy riskPolicy passwordPolicy
                   groupPasswordPolicies roles);

my %RANGE = (minLength => [ 8, 128 ], historyCount => [ 0, 24 ],
             maxAgeDays => [ 0, 3650 ]);
my @DAYS = qw(mon tue wed thu fri sat sun);
my @COUNTRIES = qw(FR DE IT US JP BR ZA IN GB SE);
my @ZONES = qw(Europe/Paris America/New_York Asia/Kolkata UTC);
my @WORDS = ('Plant', 'Night "shift"', 'a\\b', "caf\x{e9}", "\x{1F680}", 'x/y',
             '<b>', "\x{4e2d}\x{6587}", 'R&D', "d'or");

my $serial = 0;


# Returns the bundle of a new tenant.

sub fresh {
    return {
        accessPolicy => { rules => [], defaultAction => 'allow' },
        riskPolicy => { enabled => 'false', mfaThreshold => 40,
                        denyThreshold => 80 },
        passwordPolicy => {
            minLength => 12, historyCount => 5, maxAgeDays => 0,
            rejectBreached => 'true', rejectContextual => 'true',
            map { $_ => 'false' } qw(requireLower requireUpper requireDigit
                                     requireSymbol)
        },
        groupPasswordPolicies => [],
        roles => [],
    };
}


sub one_of {
    return $_[rand @_];
}


sub integer {
    my ($min, $max) = @_;

    return $min + int rand($max - $min + 1);
}


sub boolean {
    return rand() < 0.5 ? 'true' : 'false';
}


sub some_of {
    my ($most, @list) = @_;

    my $n = int rand($most + 1);

    return $n ? (shuffle @list)[0 .. $n - 1] : ();
}


sub name {
    return join(' ', one_of(@WORDS), ++$serial);
}


# --- random bundles ----------------------------------------------------------------

# Returns a random bundle.  groups: ids that overrides may name; partial:
# sections are missing now and then.  A client on 127.0.0.1 is never locked out.

sub random {
    my (%opt) = @_;

    my $bundle = {
        accessPolicy => access(),
        riskPolicy => risk(),
        passwordPolicy => { map { $_ => field($_) } @FIELDS },
        groupPasswordPolicies => [ map { override($_) }
                                   some_of(scalar @{ $opt{groups} },
                                           @{ $opt{groups} }) ],
        roles => [ map { role($_) } keys_of(int rand 6) ],
    };

    for my $section (@SECTIONS) {
        delete $bundle->{$section} if $opt{partial} && rand() < 0.1;
    }

    return $bundle;
}


sub access {
    my @rules = map { rule() } 1 .. int rand 4;
    my $default = one_of(qw(allow mfa deny));

    splice @rules, int rand(@rules + 1), 0,
           { name => name(), enabled => 'true', action => 'allow',
             networks => [ '127.0.0.1' ], countries => [], timeWindows => [] }
        if $default eq 'deny';

    return { rules => \@rules, defaultAction => $default };
}


sub rule {
    my $action = one_of(qw(allow mfa deny));
    my $deny = $action eq 'deny';
    my @networks = map { network() } 1 .. $deny + int rand 3;

    return { name => name(), enabled => boolean(), action => $action,
             networks => \@networks,
             countries => [ some_of(4, @COUNTRIES) ],
             timeWindows => [ rand() < 0.3 ? window() : () ] };
}


# Returns a network that never contains a loopback address.

sub network {
    return sprintf '%d.%d.%d.%d', integer(11, 120), map { integer(0, 255) } 1 .. 3
        if rand() < 0.2;

    return sprintf '%d.%d.0.0/16', integer(11, 120), integer(0, 255)
        if rand() < 0.4;

    return sprintf '%d.%d.%d.0/24', integer(11, 120), map { integer(0, 255) } 1, 2
        if rand() < 0.5;

    return sprintf '2001:db8:%x::/48', integer(1, 0xffff);
}


sub window {
    my $start = integer(0, 1439);
    my $end = ($start + integer(1, 1438)) % 1440 || 1440;

    return { days => [ (shuffle @DAYS)[0 .. int rand 7] ],
             timezone => one_of(@ZONES),
             start => sprintf('%02d:%02d', int $start / 60, $start % 60),
             end => sprintf('%02d:%02d', int $end / 60, $end % 60) };
}


sub risk {
    my $deny = integer(1, 100);

    return { enabled => boolean(), denyThreshold => $deny,
             mfaThreshold => integer(0, $deny - 1) };
}


sub field {
    my ($name) = @_;

    return $RANGE{$name} ? integer(@{ $RANGE{$name} }) : boolean();
}


sub override {
    my ($group) = @_;

    my @set = some_of(9, @FIELDS);

    @set = one_of(@FIELDS) if !@set;

    return { groupId => $group, map { $_ => field($_) } @set };
}


sub keys_of {
    my ($n) = @_;

    my %keys;

    $keys{one_of(qw(a z null role- x_ true t)) . integer(0, 12)} = 1
        while keys %keys < $n;

    return shuffle sort keys %keys;
}


sub role {
    my ($key) = @_;

    return { key => $key, name => name(),
             permissions => [ some_of(7, @PERMISSIONS) ] };
}


# --- canonical form -----------------------------------------------------------------

sub string {
    my ($text) = @_;

    $text =~ s/(["\\])/\\$1/g;

    return '"' . Encode::encode('UTF-8', $text) . '"';
}


sub strings {
    return '[' . join(',', map { string($_) } @_) . ']';
}


# Returns the canonical text of a bundle, or of one section.  Absent members are
# left out.

sub canonical {
    my ($bundle) = @_;

    return '{"version":1'
           . join('', map { ",\"$_\":" . section($_, $bundle->{$_}) }
                      grep { exists $bundle->{$_} } @SECTIONS) . '}';
}


sub section {
    my ($name, $value) = @_;

    return access_text($value) if $name eq 'accessPolicy';
    return risk_text($value) if $name eq 'riskPolicy';
    return '{' . fields_text($value) . '}' if $name eq 'passwordPolicy';

    return '[' . join(',', map { override_text($_) }
                           sort { $a->{groupId} cmp $b->{groupId} } @$value)
           . ']' if $name eq 'groupPasswordPolicies';

    return '[' . join(',', map { role_text($_) }
                           sort { $a->{key} cmp $b->{key} } @$value) . ']';
}


sub access_text {
    my ($access) = @_;

    return '{"rules":[' . join(',', map { rule_text($_) } @{ $access->{rules} })
           . "],\"defaultAction\":\"$access->{defaultAction}\"}";
}


sub rule_text {
    my ($rule) = @_;

    return '{"name":' . string($rule->{name}) . ",\"enabled\":$rule->{enabled}"
           . ",\"action\":\"$rule->{action}\""
           . ',"networks":' . strings(@{ $rule->{networks} })
           . ',"countries":' . strings(@{ $rule->{countries} })
           . ',"timeWindows":['
           . join(',', map { window_text($_) } @{ $rule->{timeWindows} })
           . ']}';
}


sub window_text {
    my ($window) = @_;

    return '{"days":' . strings(@{ $window->{days} })
           . ",\"start\":\"$window->{start}\",\"end\":\"$window->{end}\""
           . ",\"timezone\":\"$window->{timezone}\"}";
}


sub risk_text {
    my ($risk) = @_;

    return "{\"enabled\":$risk->{enabled}"
           . ",\"mfaThreshold\":$risk->{mfaThreshold}"
           . ",\"denyThreshold\":$risk->{denyThreshold}}";
}


sub fields_text {
    my ($fields) = @_;

    return join ',', map { "\"$_\":$fields->{$_}" }
                     grep { defined $fields->{$_} } @FIELDS;
}


sub override_text {
    my ($override) = @_;

    return "{\"groupId\":\"$override->{groupId}\"," . fields_text($override)
           . '}';
}


sub role_text {
    my ($role) = @_;

    return "{\"key\":\"$role->{key}\",\"name\":" . string($role->{name})
           . ',"permissions":' . strings(sort @{ $role->{permissions} }) . '}';
}


# --- other spellings ----------------------------------------------------------------

# Returns a text that means the same: members and sets in another order,
# elements twice, CIDRs and countries in another spelling, defaults left out.

sub spelled {
    my ($bundle) = @_;

    return object(version => 1,
                  map { $_ => spelled_section($_, $bundle->{$_}) }
                  grep { exists $bundle->{$_} } @SECTIONS);
}


sub object {
    my (%member) = @_;

    return '{' . join(', ', map { "\"$_\" : $member{$_}" }
                           shuffle sort keys %member) . '}';
}


sub array {
    return "[ " . join(',', @_) . ']';
}


sub set {
    my @all = @_;

    push @all, one_of(@all) if @all && rand() < 0.3;

    return array(map { string($_) } shuffle @all);
}


sub spelled_section {
    my ($name, $value) = @_;

    return object(rules => array(map { spelled_rule($_) }
                                 @{ $value->{rules} }),
                  defaultAction => string($value->{defaultAction}))
        if $name eq 'accessPolicy';

    return object(%$value) if ref $value eq 'HASH';

    return array(map { object(%$_, groupId => string($_->{groupId})) }
                 shuffle @$value) if $name eq 'groupPasswordPolicies';

    return array(map { object(key => string($_->{key}),
                              name => string(padded($_->{name})),
                              permissions => set(@{ $_->{permissions} })) }
                 shuffle @$value);
}


sub padded {
    my ($text) = @_;

    return rand() < 0.2 ? "  $text " : $text;
}


sub spelled_rule {
    my ($rule) = @_;

    my %member = (
        name => string(padded($rule->{name})),
        action => string($rule->{action}),
        networks => set(map { cidr($_) } @{ $rule->{networks} }),
        countries => set(map { rand() < 0.5 ? lc : $_ }
                         @{ $rule->{countries} }),
        timeWindows => array(map {
            object(days => array(map { string($_) } shuffle @{ $_->{days} }),
                   start => string($_->{start}),
                   end => string($_->{end}),
                   timezone => string($_->{timezone}))
        } shuffle @{ $rule->{timeWindows} }),
        enabled => $rule->{enabled},
    );

    for my $list (qw(networks countries timeWindows)) {
        delete $member{$list} if !@{ $rule->{$list} } && rand() < 0.7;
    }

    delete $member{enabled} if $rule->{enabled} eq 'true' && rand() < 0.5;

    return object(%member);
}


sub cidr {
    my ($text) = @_;

    return $text if rand() < 0.3;
    return "$text/32" if $text !~ m{/};

    return $text =~ s/\.0\.0\/16/'.' . integer(0, 255) . '.7\/16'/er
        if $text =~ m{/16};
    return $text =~ s/\.0\/24/'.' . integer(0, 255) . '\/24'/er
        if $text =~ m{/24};

    return one_of(uc $text, $text =~ s/::/:0:0:0:0:0/r,
                  $text =~ s/::/::1/r);
}


# --- one change -----------------------------------------------------------------------

# Returns a copy that differs in one field, and as text the change that a plan
# with details reports for it.  groups: as for random().

sub edited {
    my ($bundle, @groups) = @_;

    my $copy = clone($bundle);
    my @ways = (\&edit_access, \&edit_risk, \&edit_password, \&edit_override,
                \&edit_role);

    for (;;) {
        my @change = one_of(@ways)->($copy, @groups);

        return ($copy, change(@change)) if @change;
    }
}


sub clone {
    my ($value) = @_;

    return [ map { clone($_) } @$value ] if ref $value eq 'ARRAY';
    return { map { $_ => clone($value->{$_}) } keys %$value }
        if ref $value eq 'HASH';

    return $value;
}


sub change {
    my ($resource, $action, $before, $after, @paths) = @_;

    return "{\"resource\":\"$resource\",\"action\":\"$action\""
           . ",\"before\":$before,\"after\":$after,\"paths\":"
           . strings(@paths) . '}';
}


sub other {
    my ($old, $new) = @_;

    my $value;

    do { $value = $new->() } while "$value" eq "$old";

    return $value;
}


sub edit_access {
    my ($b) = @_;

    my $access = $b->{accessPolicy};
    my $rules = $access->{rules};
    my $before = access_text($access);
    my $i = int rand(@$rules + 2);
    my $path;

    if ($i > @$rules) {
        $path = 'defaultAction';
        $access->{$path} = other($access->{$path},
                                 sub { one_of(qw(allow mfa deny)) });

    } elsif ($i == @$rules) {
        $path = "rules[$i]";
        push @$rules, rule();

    } elsif (rand() < 0.2) {
        $path = "rules[$#$rules]";
        pop @$rules;

    } else {
        my $member = one_of(qw(name enabled action networks countries
                               timeWindows));
        my $rule = $rules->[$i];

        $path = "rules[$i].$member";

        if ($member eq 'networks') {
            push @{ $rule->{networks} }, sprintf '10.%d.%d.%d', map {
                integer(0, 255) } 1 .. 3;

        } elsif ($member eq 'countries') {
            push @{ $rule->{countries} }, 'AQ';

        } elsif ($member eq 'timeWindows') {
            push @{ $rule->{timeWindows} }, { %{ window() },
                                              timezone => 'Asia/Tokyo' };

        } elsif ($member eq 'name') {
            $rule->{name} = name();

        } else {
            $rule->{$member} = other($rule->{$member}, sub {
                $member eq 'enabled' ? boolean() : one_of(qw(allow mfa deny))
            });
        }
    }

    return ('accessPolicy', 'update', $before, access_text($access), $path);
}


sub edit_risk {
    my ($b) = @_;

    my $risk = $b->{riskPolicy};
    my $before = risk_text($risk);
    my $path = one_of(qw(enabled denyThreshold));

    return if $path eq 'denyThreshold' && $risk->{mfaThreshold} == 99;

    $risk->{$path} = other($risk->{$path}, sub {
        $path eq 'enabled' ? boolean() : integer($risk->{mfaThreshold} + 1, 100)
    });

    return ('riskPolicy', 'update', $before, risk_text($risk), $path);
}


sub edit_password {
    my ($b) = @_;

    my $password = $b->{passwordPolicy};
    my $before = section('passwordPolicy', $password);
    my $path = one_of(@FIELDS);

    $password->{$path} = other($password->{$path}, sub { field($path) });

    return ('passwordPolicy', 'update', $before,
            section('passwordPolicy', $password), $path);
}


sub edit_override {
    my ($b, @groups) = @_;

    my $list = $b->{groupPasswordPolicies};
    my %has = map { $_->{groupId} => 1 } @$list;

    if (!@$list || rand() < 0.2) {
        my ($group) = grep { !$has{$_} } @groups or return;

        push @$list, override($group);

        return ("groupPasswordPolicy:$group", 'create', 'null',
                override_text($list->[-1]));
    }

    my $i = int rand @$list;
    my $override = $list->[$i];
    my $before = override_text($override);
    my $resource = "groupPasswordPolicy:$override->{groupId}";

    if (rand() < 0.2) {
        splice @$list, $i, 1;
        return ($resource, 'delete', $before, 'null');
    }

    my $path = one_of(@FIELDS);

    if (defined $override->{$path} && keys %$override > 2 && rand() < 0.5) {
        delete $override->{$path};

    } else {
        $override->{$path} = other($override->{$path} // '',
                                   sub { field($path) });
    }

    return ($resource, 'update', $before, override_text($override), $path);
}


sub edit_role {
    my ($b) = @_;

    my $list = $b->{roles};

    if (!@$list || rand() < 0.2) {
        push @$list, role('new' . ++$serial);

        return ("role:$list->[-1]{key}", 'create', 'null',
                role_text($list->[-1]));
    }

    my $i = int rand @$list;
    my $role = $list->[$i];
    my $before = role_text($role);
    my $resource = "role:$role->{key}";

    if (rand() < 0.2) {
        splice @$list, $i, 1;
        return ($resource, 'delete', $before, 'null');
    }

    if (rand() < 0.5) {
        $role->{name} = name();
        return ($resource, 'update', $before, role_text($role), 'name');
    }

    my $permission = one_of(@PERMISSIONS);
    my @others = grep { $_ ne $permission } @{ $role->{permissions} };

    $role->{permissions} = @others < @{ $role->{permissions} }
                           ? \@others : [ @others, $permission ];

    return ($resource, 'update', $before, role_text($role), 'permissions');
}


# --- a system's tenant ----------------------------------------------------------------

# Creates a token with all permissions, and $n groups.  Returns (token, ids).

sub tenant {
    my ($s, $tenant, $n) = @_;

    my $token = $tenant->token(kind => 'api', name => 'all',
                               permissions => join ',', @PERMISSIONS);
    my @groups = map { $_->[0] } $s->sql(<<"EOT");
INSERT INTO svc.user_group (tenant_id, id, name)
SELECT '$tenant->{id}', gen_random_uuid(), 'Group ' || i
FROM generate_series(1, $n) i RETURNING id
EOT

    return ($token->{token}, sort @groups);
}


1;
