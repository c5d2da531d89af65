#!/usr/bin/perl

# Shows the surfaces beside nginx's own directives and modules.

use strict;
use warnings;

use IO::Socket::INET;
use Test::More;

use SvcTest;
use SvcTest::Process qw(slow wait_for slurp write_file);
use SvcTest::Scim;


my ($port, $upstream) = map { SvcTest::Nginx::free_port() } 1 .. 2;

# A second server has a SCIM location with directives that operators put there; a
# third one stands for a server that nginx is a proxy of.

my $s = SvcTest->new;
my $dir = $s->dir;

mkdir "$dir/html" or die $!;
write_file("$dir/html/page.shtml",
           'head <!--# include virtual="/healthz" --> tail');
write_file("$dir/html/export.shtml", 'head <!--# include'
           . ' virtual="/v1/admin/audit/export?format=csv" --> tail');

$s->nginx->{http} = <<"EOT2";
    server {
        listen 127.0.0.1:$port;
        root $dir/html;
        client_body_buffer_size 8k;

        location /scim/v2 {
            svc_scim on;

            if (\$http_x_if) {
                set \$a 1;
            }

            limit_except GET POST PUT PATCH {
                deny 127.0.0.2;
                allow all;
            }

            if (\$http_x_teapot) {
                return 418;
            }
        }

        location /scim/v2/Groups {
            proxy_pass http://127.0.0.1:$upstream;
        }

        location = /post {
            mirror /scim/v2/Users;
            mirror_request_body off;
            proxy_pass http://127.0.0.1:$upstream/sink;
        }

        location = /healthz {
            svc_health;

            limit_except GET {
                allow all;
            }
        }

        location /v1 {
            svc_admin on;
        }

        location / {
            ssi on;
            ssi_types *;
        }
    }

    server {
        listen 127.0.0.1:$upstream;

        location /scim/v2/Groups {
            add_header ETag '"of the old body"' always;
            add_header Content-Encoding x-none always;
            return 409 '{"scimType":"uniqueness"}';
        }

        location = /sink {
            client_body_in_file_only on;
            client_body_temp_path $dir/sink;
            proxy_pass http://127.0.0.1:$upstream/end;
        }

        location = /end {
            return 204;
        }
    }
EOT2

$s->nginx->{locations} = <<'EOT2';
        location = /sink {
            internal;
            proxy_pass http://127.0.0.1:UPSTREAM/sink;
        }
EOT2
$s->nginx->{locations} =~ s/UPSTREAM/$upstream/;
$s->nginx->{scim} = { mirror => '/sink' };

$s->start;

my $acme = $s->tenant('acme');
my $user = $acme->create(userName => 'ada@acme.test', displayName => 'Ada');
my $path = "/scim/v2/Users/$user->{id}";
my @workers = $s->workers;


sub there {
    my ($method, $uri, $headers, $body, %arg) = @_;

    return $s->http($method, $uri, $headers, $body, port => $port, %arg);
}


# --- if and limit_except ----------------------------------------------------------

my @auth = @{ $acme->headers };

scim_ok(there(GET => $path, [ @auth, 'X-If' => 1 ]), 200,
        'an if in the location');
scim_error(there(GET => '/scim/v2/nothing', [ 'X-If' => 1 ]), 404, undef,
           'and no token');
scim_ok(there(POST => '/scim/v2/Users', [ @auth, 'X-If' => 1 ],
              { userName => 'if@acme.test' }), 201, 'a body');
scim_error(there(POST => '/scim/v2/Users', [ @auth, 'X-If' => 1 ],
                 '{"userName":"' . 'x' x 1048576 . '"}'), 413, undef,
           'of more than a megabyte');
scim_error(there(GET => $path, [ @auth, 'X-Teapot' => 1 ]), 418, undef,
           'an if with a return, in the envelope');

scim_ok(there(GET => $path, [ @auth ], undef, local => '127.0.0.2'), 200,
        'limit_except: a method that is not limited');
is(there(DELETE => $path, [ @auth ])->status, 204, 'one that is allowed');
scim_error(there(DELETE => $path, [ @auth ], undef, local => '127.0.0.2'), 403,
           undef, 'one that is denied');
is(there(HEAD => '/healthz')->status, 200, 'limit_except around health');
is(there(POST => '/healthz')->status, 405, 'and a method that it limits');


# --- conditional headers do not deny a change that is made ------------------------

my $changed = 0;

for my $header ([ 'If-Match' => '"x"' ], [ 'If-None-Match' => '*' ],
                [ 'If-Unmodified-Since' => 'Thu, 01 Jan 1970 00:00:00 GMT' ],
                [ 'If-Modified-Since' => 'Fri, 01 Jan 2100 00:00:00 GMT' ],
                [ 'Range' => 'bytes=0-1' ])
{
    my $title = 'Title ' . ++$changed;

    my $r = $acme->scim(PUT => "/Users/$user->{id}",
                        { userName => 'ada@acme.test', title => $title },
                        $header);
    scim_ok($r, 200, "$header->[0]");
    is($r->json->{title}, $title, 'is not heeded');
    scim_ok($acme->scim(GET => "/Users/$user->{id}", undef, $header), 200,
            'when it reads, neither');
    is($s->http(GET => '/healthz', $header)->status, 200, 'nor of health');
}


# --- subrequests ---------------------------------------------------------------------

my $page = there(GET => '/page.shtml', [ Connection => 'keep-alive' ]);

is($page->status, 200, 'health in a page');
like($page->body, qr/^head \{"status":"ok".*\} tail$/, 'is a part of it');

my $auditor = $acme->token(kind => 'api', permissions => 'audit:view');
my $kept = $s->connection(port => $port);

for (1, 2) {
    $page = $kept->request(GET => '/export.shtml',
                        { Authorization => "Bearer $auditor->{token}" });
    like($page ? $page->body : $kept->error, qr/^head id,.*\r\n tail$/s,
         'a long answer in a page, on a kept connection');
}

is(there(POST => '/post', [ @auth ], '{"userName":"mirror@acme.test"}')
   ->status, 204, 'a mirrored POST without its body');
is($s->sql("SELECT count(*) FROM svc.user_account"
           . " WHERE user_name = 'mirror\@acme.test'"), 0, 'creates nobody');


# --- a body that another module has read ---------------------------------------------

my $n = 0;

for my $size (10, 3_000, 40_000, 1_000_000) {
    my $title = 'x' x 1000;
    my $body = SvcTest::encode({ userName => 'size' . ++$n . '@acme.test',
                                 title => $title });
    $body .= ' ' x ($size - length $body) if $size > length $body;

    my $r = $s->http(POST => '/scim/v2/Users', [ @auth ], $body);
    scim_ok($r, 201, "a mirrored body of $size bytes");
    is($r->json->{title}, $title, 'is read');

    # The body is sent in two packets, so that it is in two buffers.

    my $c = $s->connection;
    my $text = $c->format(POST => '/scim/v2/Users',
                          [ @auth, Connection => 'close' ],
                          $body =~ s/size/part/r);
    my $at = length($text) - length($body) + 5;

    $c->send(substr $text, 0, $at);
    ok($c->silent(0.05), 'a part of it');
    $c->send(substr $text, $at);
    scim_ok($c->read, 201, 'and the rest');

    # The mirror keeps what it got in files, which are found by their sizes.

    my $all = sub { scalar grep { -s $_ == length $body } glob "$dir/sink/*" };
    ok((wait_for { $all->() >= 2 }), 'the mirror has all of both')
        or diag(join ' ', map { -s $_ } glob "$dir/sink/*");
}


# --- other modules' errors stay as they are --------------------------------------------

my $r = there(GET => '/scim/v2/Groups');
is($r->status, 409, 'an error of a proxied server below the prefix');
is($r->body, '{"scimType":"uniqueness"}', 'keeps its body');
is($r->header('content-encoding'), 'x-none', 'and its headers');


# --- a health request without its body ---------------------------------------------------

my $c = $s->connection;
$c->send("GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n");
is($c->read->status, 200, 'health before its body');
ok($c->silent(1.5), 'and nothing more');
$c->send('01234');
is($c->request(GET => '/healthz')->status, 200, 'the connection lives');


# --- a host that is silent, and one that answers ------------------------------------------

my $silent = IO::Socket::INET->new(LocalAddr => '127.0.0.9', LocalPort => 0,
                                   Listen => 5) or die $!;
my $conninfo = $s->pg->conninfo('svc_app');
my ($socket) = $conninfo =~ /host=(\S+)/;

(my $two = $conninfo) =~ s/host=\S+/host=127.0.0.9,$socket/;
$two .= ' port=' . $silent->sockport . ',5432';

$s->nginx->{svc} = { svc_postgres => "\"$two\"",
                     svc_postgres_connect_timeout => '500ms' };
is("@{[ $s->workers ]}", "@workers", 'the workers are the same');
$s->reload;

ok((wait_for { $s->health->status == 200 }), 'the second host is found');
scim_ok($acme->scim(GET => "/Users/$user->{id}"), 200, 'and serves');

$s->done;
done_testing();
