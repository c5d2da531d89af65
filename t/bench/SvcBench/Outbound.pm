package SvcBench::Outbound;

# Outbound SCIM: users are pushed to a second nginx, which stores them in
# another tenant, or answers at once, or late.  Its access log has the time of
# each request.

use strict;
use warnings;

use HTTP::Tiny ();
use IO::Handle ();
use JSON::PP ();
use POSIX qw(ceil);
use Time::HiRes qw(sleep time);

use SvcBench::Cpu;
use SvcBench::Scim;
use SvcTest::Nginx;
use SvcTest::Process qw(run_apart slurp spawn wait_for write_file);
use SvcTest::Scim qw(U E patch_op);


our $OURS = '/scim/v2';                 # paths of the second nginx
our $AT_ONCE = '/at-once';
our $FAR = '/far';
our $PLAIN = '/far/plain';               # the same, with filters of one comparison

my $FAR_MS = 20;                        # ms until $FAR answers
my $TITLE = 'Rear Admiral';
my %A_SECOND = ($OURS => 400, $AT_ONCE => 400, $FAR => 50,
                $PLAIN => 50);
                                        # users for a second that is measured
my $CHANGES = 25;                       # changes for a second that is measured
my $RATE = 10;                          # the default of svc_scim_rate

my %r;


# --- the second nginx ---------------------------------------------------------------

# Starts the second nginx, once the system runs, and makes a tenant that has
# users, and one that gets them.

sub prepare {
    my ($system) = @_;

    my $s = $system->{s};
    my $tls = "$s->{dir}/receiver";

    %r = (log => "$s->{dir}/there.log", port => SvcTest::Nginx::free_port(),
          ca => "$tls/ca.pem", app => 0);

    my $far = $r{far} = far($system);

    $r{node} = $s->node(workers => 1, connections => 4096, http => <<"EOT");
    log_format there "\$msec\\t\$request_time\\t\$request_method\\t\$request_uri";
    keepalive_requests 100000000;

    upstream far {
        server 127.0.0.1:$far;
        keepalive 32;
    }

    server {
        listen 127.0.0.1:$r{port} ssl;
        ssl_certificate $tls/own.pem;
        ssl_certificate_key $tls/key.pem;
        access_log $r{log} there;

        location $OURS {
            svc_scim on;
            svc_scim_mode rfc;
        }

        location $FAR {
            proxy_pass http://far;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
        }

        location $AT_ONCE {
            default_type application/scim+json;

            if (\$request_method = POST) {
                return 201 '{"id":"\$request_id"}';
            }

            if (\$request_method = PATCH) {
                return 204;
            }

            return 200 '{"totalResults":0,"Resources":[]}';
        }
    }
EOT

    $r{from} = $s->tenant('outbound');
    $r{to} = $s->tenant('there');
    $r{posts} = [ map { $s->tenant("outbound$_") } 0 .. $#{ $system->{tenants} } ];
    $r{tokens} = $system->token_file('outbound_tokens', @{ $r{posts} });
    may($system);
}


# Returns its port.

sub far {
    my ($system) = @_;

    my $out = "$system->{dir}/far";
    my $port;

    spawn([ 'node', "$system->{here}/peer/far.mjs", $FAR_MS ], out => $out);

    wait_for { ($port) = (slurp($out) // '') =~ /^port (\d+)$/m } 20
        or die 'far.mjs: ' . (slurp($out) // '') . "\n";

    return $port;
}


# Lets the API tokens of all tenants manage targets.

sub may {
    my ($system) = @_;

    $system->{s}->sql(q(UPDATE svc.credential SET permissions = permissions)
                      . q( || '{apps:manage}' WHERE kind = 'api' AND NOT)
                      . q( 'apps:manage' = ANY (permissions)));
}


# Configures nginx; fresh: with a new helper.

sub serve {
    my ($system, $targets, $rate, $fresh) = @_;

    my $nginx = $system->{s}->nginx;
    my @before = $nginx->helper_pids;

    return if !$fresh && "@before" eq ($r{helper} // '')
              && "$nginx->{svc}{svc_scim_targets} $nginx->{svc}{svc_scim_rate}"
                 eq "$targets $rate";

    $nginx->{svc}{svc_scim_targets} = $targets;
    $nginx->{svc}{svc_scim_rate} = $rate;

    $system->{s}->reload;
    $system->{s}->wait_healthy or die "nginx is not healthy\n";

    $r{helper} = $nginx->wait_helper(@before) or die "no new helper\n";
}


# Deletes what a measurement has left.

sub clean {
    my ($system) = @_;

    $system->psql('postgres', '-c', 'DELETE FROM svc.scim_target',
                  '-c', 'VACUUM (ANALYZE) svc.scim_target, svc.scim_item');
    $system->reset;
    HTTP::Tiny->new(timeout => 10)->delete("http://127.0.0.1:$r{far}/");
}


# --- users, targets ------------------------------------------------------------------

sub users {
    my ($system, $n, @tenants) = @_;

    my $ids = join ',', map { $_->{id} } @tenants ? @tenants : $r{from};

    # as in sql/seed.sql: otherwise one count would change with each row of one
    # transaction

    $system->psql('postgres', '-c', 'SET session_replication_role = replica',
                  '-c', <<"EOT", '-c', 'SELECT svc.user_recount()',
INSERT INTO svc.user_account (tenant_id, id, user_name, email_verified, source,
                              first_name, last_name, display_name, title, department,
                              locale)
SELECT t, gen_random_uuid(), 'grace.' || i || '\@example.test', true, 'scim',
       'Grace', 'Hopper ' || i, 'Grace Hopper ' || i, '$TITLE', 'Research', 'en-US'
FROM unnest('{$ids}'::uuid[]) t, generate_series(1, $n) i
EOT
                  '-c', 'VACUUM (ANALYZE) svc.user_account');
}


# Makes a target at a path of the second nginx; returns its id.

sub target {
    my ($system, $path, $tenant, $c) = @_;

    my $of = $tenant // $r{from};
    my $app = sprintf 'app_%032d', ++$r{app};

    $of->add_applications(web => $app);

    my $r = ($c // $system->{s}->connection)->request(
        POST => '/v1/admin/scim-targets',
        { Authorization => "Bearer $of->{api_token}" },
        SvcTest::encode({ clientId => $app, name => 'There',
                          token => $r{to}{scim_token},
                          baseUrl => "https://127.0.0.1:$r{port}$path" }));

    die 'POST /scim-targets: ' . ($r ? $r->body : 'no answer') . "\n"
        if !$r || $r->status != 201;

    return $r->json->{id};
}


sub admin {
    my ($system, $method, $path) = @_;

    return $r{from}->admin($method, $path);
}


# Returns how many of the target's users are synchronized.

sub synced {
    my ($system, $id) = @_;

    return scalar $system->{s}->sql(
        "SELECT count(*) FROM svc.scim_item WHERE state = 'synced'"
        . ($id ? " AND target_id = '$id'" : ''));
}


sub stored_there {
    my ($system) = @_;

    return scalar $system->{s}->sql(
        'SELECT count(*) FROM svc.user_account WHERE tenant_id ='
        . " '$r{to}{id}' AND title = '$TITLE' AND external_id IS NOT NULL");
}


sub sync_status {
    my ($system, $id) = @_;

    return scalar $system->{s}->sql(
        "SELECT coalesce(sync_status, '') FROM svc.scim_target WHERE id = '$id'");
}


# --- what has come there -------------------------------------------------------------

# Begins to watch its access log: see pump().

sub watch {
    open my $fh, '<', $r{log} or die "$r{log}: $!\n";
    seek $fh, 0, 2;

    return { fh => $fh, requests => 0, of => {}, pages => 0, lines => [] };
}


# Counts the whole lines that were added: requests for users, and those of each
# method; first, the time at which the first one began, and last, at which the
# last one ended; pages of the list; others do not count.  keep: keeps method
# and path, too.

sub pump {
    my ($w, $keep) = @_;

    $w->{fh}->clearerr;

    while (defined(my $line = readline $w->{fh})) {
        $w->{line} .= $line;
        next if $line !~ /\n\z/;

        my ($at, $took, $method, $uri) = split /\t/, delete($w->{line}) =~ s/\n\z//r;

        if ($uri !~ m{/Users/|/Users$|/Users\?filter}) {
            $w->{pages}++ if $uri =~ /startIndex/;
            next;
        }

        $w->{first} //= $at - $took;
        $w->{last} = $at;
        $w->{requests}++;
        $w->{of}{$method}++;
        push @{ $w->{lines} }, [ $method, $uri ] if $keep;
    }

    return $w;
}


# Waits for so many requests of a method, as long as some come.

sub wait_requests {
    my ($w, $method, $n, $keep) = @_;

    for (;;) {
        my $had = $w->{requests};

        wait_for {
            (pump($w, $keep)->{of}{$method} // 0) >= $n || $w->{requests} > $had
        } 30;

        return 1 if ($w->{of}{$method} // 0) >= $n;

        die +($w->{of}{$method} // 0) . " of $n $method came\n"
            if $w->{requests} == $had;

        sleep 0.05;
    }
}


sub taken {
    my ($w) = @_;

    return $w->{last} - $w->{first};
}


# Returns the highest memory of the helper so far, in KB.

sub helper_peak {
    my ($kilobytes) = (slurp("/proc/$r{helper}/status") // '')
                      =~ /^VmHWM:\s+(\d+)/m;

    return $kilobytes // die "the helper has ended\n";
}


# --- pushes, and curl -----------------------------------------------------------------

# Measures new users, each looked up and created.

sub pushes {
    my ($system, $seconds, $path) = @_;

    my $n = ceil($A_SECOND{$path} * $seconds);

    serve($system, 'on', 'off');
    users($system, $n);

    my $w = watch();
    my $cpu = SvcBench::Cpu->new($system->processes);
    my $id = target($system, $path);

    wait_requests($w, 'POST', $n, 1);
    wait_for { synced($system, $id) == $n } 30;

    my $synced = synced($system, $id);
    my $there = $path eq $OURS ? stored_there($system) : $n;
    my %n = (rate => $w->{requests} / taken($w), requests => $w->{requests},
             users => $n / taken($w), $cpu->per_request($w->{requests}),
             faults => $synced == $n && $there == $n && $w->{of}{POST} == $n ? []
                       : [ "$there of $n users are there, $synced known to be,"
                           . " $w->{of}{POST} were created" ]);

    $r{lines}{$path} = $w->{lines};
    clean($system);

    return \%n;
}


# Measures the same requests by curl, four at a time.

sub parallel {
    my ($system, $seconds, $path) = @_;

    return curl($system, $seconds, $path, '', qw(--parallel --parallel-max 4));
}


# Measures the creations only, by curl, one after the other.

sub one_by_one {
    my ($system, $seconds, $path) = @_;

    my $n = curl($system, $seconds, $path, 'POST');

    return { %$n, users => $n->{rate} };
}


sub curl {
    my ($system, $seconds, $path, $only, @options) = @_;

    pushes($system, $seconds, $path) if !$r{lines}{$path};

    my $file = "$system->{dir}/curl.conf";
    my @requests = curl_file($file, $r{lines}{$path}, $only);
    my $w = watch();
    my ($status, $out) = run_apart([ 'curl', '-q', @options, '-K', $file ],
                                   timeout => 120);

    pump($w);
    clean($system);

    my $good = () = $out =~ /^20[01]$/mg;

    return { rate => $w->{requests} / taken($w), requests => $w->{requests},
             faults => $status == 0 && $good == @requests
                       && $w->{requests} == @requests ? []
                       : [ "curl: $good of " . @requests . " answers, status $status" ] };
}


# Writes a file for curl with one transfer for each of the requests.

sub curl_file {
    my ($file, $lines, $only) = @_;

    my $head = qq(silent\nshow-error\ncacert = "$r{ca}"\noutput = "/dev/null"\n)
               . qq(write-out = "%{http_code}\\n"\n)
               . qq(header = "Authorization: Bearer $r{to}{scim_token}"\n);
    my (@transfers, $n);

    for (@$lines) {
        my ($method, $uri) = @$_;

        next if $only && $method ne $only;

        my $text = qq(${head}url = "https://127.0.0.1:$r{port}$uri"\n);

        $text .= qq(header = "Content-Type: application/scim+json"\ndata-raw = ")
                 . body(++$n) =~ s/"/\\"/gr . qq("\n) if $method eq 'POST';
        push @transfers, $text;
    }

    write_file($file, join "next\n", @transfers);

    return @transfers;
}


# Returns the body that the helper sends for the n-th user.

sub body {
    my ($n) = @_;

    return SvcTest::encode({
        schemas => [ U, E ], userName => "grace.$n\@example.test",
        externalId => sprintf('018f3a5c-7d7e-7100-9000-%012d', $n),
        active => JSON::PP::true(), displayName => "Grace Hopper $n", title => $TITLE,
        locale => 'en-US',
        name => { givenName => 'Grace', familyName => "Hopper $n",
                  formatted => "Grace Hopper $n" },
        emails => [ { value => "grace.$n\@example.test", type => 'work',
                      primary => JSON::PP::true() } ],
        E, { department => 'Research' },
    });
}


# --- a change until it is there --------------------------------------------------------

# Measures from the sending of a change to its arrival there, with nothing else
# to do.

sub delay {
    my ($system, $seconds) = @_;

    serve($system, 'on', 'off');
    users($system, 100);

    my $id = target($system, $AT_ONCE);
    my @ids = map { $_->[0] } $system->{s}->sql(
        "SELECT id FROM svc.user_account WHERE tenant_id = '$r{from}{id}'");

    wait_for { synced($system, $id) == @ids } 30 or die "the users do not come\n";

    my $w = watch();
    my $c = $system->{s}->connection;
    my @took;

    for my $i (1 .. $CHANGES * $seconds) {
        wait_for { synced($system, $id) == @ids } 10;
        sleep 0.05 + rand 0.1;

        my $begin = time;
        change($c, $r{from}, $ids[$i % @ids], "Admiral $i");
        wait_requests($w, 'PATCH', $i);
        push @took, 1e6 * ($w->{last} - $begin);
    }

    clean($system);
    @took = sort { $a <=> $b } @took;

    return { rate => @took / $seconds, requests => scalar @took, faults => [],
             p50 => $took[@took / 2], p99 => $took[0.99 * $#took] };
}


sub change {
    my ($c, $tenant, $id, $title) = @_;

    my $r = $c->request(
        PATCH => "/scim/v2/Users/$id",
        [ @{ $tenant->headers }, 'Content-Type', 'application/scim+json' ],
        SvcTest::encode(patch_op({ op => 'replace', path => 'title',
                                   value => $title })));

    die 'PATCH: ' . ($r ? $r->body : $c->error) . "\n"
        if !$r || $r->status != 200;
}


# --- POSTs to tenants that have targets -------------------------------------------------

# Measures with $targets targets in each tenant; undef: without
# svc_scim_targets.

sub posts {
    my ($system, $seconds, $targets) = @_;

    serve($system, defined $targets ? 'on' : 'off', $RATE);

    for my $tenant (@{ $r{posts} }) {
        target($system, $AT_ONCE, $tenant) for 1 .. $targets // 0;
    }

    wait_for { !$system->{s}->sql('SELECT count(*) FROM svc.scim_target'
                                  . ' WHERE xid IS NULL') } 20
        or die "the target is not followed\n";

    my $n = SvcBench::Scim::create($system, $seconds, tokens => $r{tokens});

    clean($system);

    return $n;
}


1;
