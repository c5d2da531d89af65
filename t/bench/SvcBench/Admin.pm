package SvcBench::Admin;

# Measurements of the admin API, and their references.

use strict;
use warnings;

use Time::HiRes qw(time);

use SvcBench::Cpu;
use SvcBench::Load;
use SvcBench::Scim;
use SvcTest::Process qw(wait_for);
use SvcTest::Sse;


my $LOGO = 102_400;
my $EVENTS = 10_000;

# in the form of the statements' tables

my $GRANTS = '{audit:view,groups:manage,members:manage,tenant:manage,users:view}';


# Prepares tokens with these permissions, a branding, a logo, and answers of
# nginx itself of the same length.

sub prepare {
    my ($system) = @_;

    my $s = $system->{s};

    $s->sql("UPDATE svc.credential SET permissions = '$GRANTS'"
            . " WHERE kind = 'api'");
    $s->sql("UPDATE svc.tenant SET branding = '{\"primary\":\"#0A66C2\","
            . "\"bg\":\"#ffffff\",\"radius\":\"8px\"}', logo_etag = 'bench'"
            . " WHERE slug = 'bench0'");
    $s->sql('INSERT INTO svc.logo SELECT id, \'image/png\', decode('
            . "repeat('5ac3', $LOGO / 2), 'hex') FROM svc.tenant"
            . " WHERE slug = 'bench0'");

    $system->{api_tokens} = "$system->{dir}/api_tokens.lua";

    open my $fh, '>', $system->{api_tokens} or die "$!\n";
    chmod 0600, $system->{api_tokens};
    print $fh 'return { ', join(', ', map { "\"$_->{api_token}\"" }
                                      @{ $system->{tenants} }), " }\n";
    close $fh;

    add_static($system);
}


sub branding {
    return '/v1/tenants/bench0/branding';
}


sub options {
    return '/v1/auth/options?tenant=bench0';
}


sub logo {
    return '/v1/tenants/bench0/logo';
}


# /same/branding returns the bytes of a branding; /same/logo is a file.

sub add_static {
    my ($system) = @_;

    my $nginx = $system->{s}->nginx;
    my $get = $system->plain(branding());
    my $body = $get->{body} =~ s/([\\'])/\\$1/gr;
    my $dir = "$system->{dir}/same";

    mkdir $dir or die "$dir: $!\n";
    chmod 0755, $dir;

    open my $fh, '>:raw', "$dir/logo" or die "$dir/logo: $!\n";
    print $fh $system->plain(logo())->{body};
    close $fh;
    chmod 0644, "$dir/logo";

    my $pad = '';

    for (1 .. 2) {
        $nginx->{locations} .= <<"EOT";
        location /same/branding$pad {
            default_type application/json;
            return 200 '$body@{[ ' ' x length $pad ]}';
        }
EOT
        $nginx->{locations} .= <<"EOT" if $pad eq '';
        location = /same/logo {
            root $system->{dir};
            sendfile on;
            tcp_nopush on;
        }
EOT
        $system->{s}->reload;
        $system->{s}->wait_healthy or die "nginx is not healthy\n";

        $system->{same} = "/same/branding$pad";

        my $less = $get->{size} - $system->plain($system->{same})->{size};

        return if $less == 0;

        die "a static answer is $less bytes shorter\n" if $less < 0;

        $pad = 'x' x $less;
    }

    die "no static answer of $get->{size} bytes\n";
}


# --- changes ---------------------------------------------------------------------

sub put {
    my ($system, $seconds) = @_;

    my $n = SvcBench::Scim::change($system, 'put_user', $seconds);

    $system->reset;

    return $n;
}


sub groups {
    my ($system, $seconds) = @_;

    my $n = SvcBench::Scim::change($system, 'groups', $seconds);

    $system->{s}->sql("DELETE FROM svc.user_group WHERE name LIKE 'bench %'");
    $system->reset;

    return $n;
}


# --- the audit log -----------------------------------------------------------------

# Measures from the sending of a change to the arrival of its event: p99, in
# microseconds.

sub stream {
    my ($system, $seconds) = @_;

    my $s = $system->{s};
    my $tenant = $system->{tenants}[0];
    my $sse = SvcTest::Sse->new($s, $tenant->{api_token},
                                '/v1/admin/audit/stream');
    my $c = $s->connection;
    my $cpu = SvcBench::Cpu->new($system->processes);
    my $end = time + $seconds;
    my @took;

    wait_for { $sse->pump(1); @{ $sse->{comments} } } 10
        or die "no stream\n";

    while (time < $end) {
        my $begin = time;
        my $r = $c->request(
            PUT => '/v1/admin/users/' . SvcBench::System::user_id(0),
            { Authorization => "Bearer $tenant->{api_token}" },
            '{"title":"' . $begin . '"}');

        die "PUT: " . ($r ? $r->body : $c->error) . "\n"
            if !$r || $r->status != 200;

        push @took, (time - $begin) * 1e6
            if $sse->wait_for(@took + 1) or die "no event\n";
    }

    my @sorted = sort { $a <=> $b } @took;
    my %n = (p99 => $sorted[int 0.99 * @sorted], p50 => $sorted[@sorted / 2],
             max => $sorted[-1], rate => @took / $seconds,
             requests => scalar @took, faults => [],
             $cpu->per_request(scalar @took));

    $sse->close;
    $system->reset;

    return \%n;
}


# Adds events to one tenant, in one statement.

sub add_events {
    my ($system) = @_;

    $system->{s}->sql(<<"EOT");
INSERT INTO svc.audit_event (tenant_id, action, actor_type, actor_id, actor_name,
                             target_type, target_id, ip, user_agent, request_id,
                             details, created_at)
SELECT '$system->{tenants}[1]{id}', 'user.updated', 'apiToken',
       gen_random_uuid(), 'deploy', 'user', gen_random_uuid(), '192.0.2.7',
       'curl/8.0', md5(i::text), '{"source":"api","changed":["title"]}',
       now() - i * interval '1 s'
FROM generate_series(1, $EVENTS) i
EOT
    $system->{s}->sql('VACUUM (ANALYZE) svc.audit_event');
}


sub export {
    my ($system, $seconds) = @_;

    my $tenant = $system->{tenants}[1];
    my $cpu = SvcBench::Cpu->new($system->processes);
    my $end = time + $seconds;
    my ($n, $begin) = (0, time);

    while (time < $end) {
        my $r = $tenant->admin(GET => '/audit/export');

        die 'export: ' . $r->status . "\n" if $r->status != 200;
        die "an export of too few events\n"
            if $r->body !~ /"count":$EVENTS,/;
        $n++;
    }

    return { rate => $n / (time - $begin), requests => $n, faults => [],
             $cpu->per_request($n) };
}


# Measures psql's COPY of the same rows and columns, as the same role.

sub copy {
    my ($system, $seconds, $statements) = @_;

    my $text = $statements->{admin_audit_export_page}{text};
    my @values = ('NULL') x 8;
    my %value = (9 => "'infinity'", 10 => "'0'", 11 => $EVENTS);

    $text =~ s/\$(\d+)/$value{$1} \/\/ 'NULL'/ge;

    return SvcBench::Load::psql($system, 1, "COPY ($text) TO STDOUT",
                                10 * $seconds);
}


1;
