package SvcTest::Nginx;

# nginx with the modules under test: its configuration, its processes, its log.

use strict;
use version;
use warnings;

use File::Basename qw(basename);
use File::Copy qw(copy);
use IO::Socket::INET;
use IO::Socket::UNIX;
use Test::More;

use SvcTest::Process qw(slow wait_for spawn alive wait_exit signal_pid children
    run run_user slurp);
use SvcTest::Skip;

must_have(program => 'nginx') if !$ENV{SVC_TEST_NGINX};
must_have(program => 'valgrind') if $ENV{SVC_TEST_VALGRIND};


my $BIN = $ENV{SVC_TEST_NGINX} || '/usr/sbin/nginx';
my $ARGUMENTS;
my @CLAIMS;


sub new {
    my ($class, %arg) = @_;

    my $self = bless { workers => 2, connections => 1024, %arg,
                       conf => "$arg{dir}/nginx.conf",
                       log => "$arg{dir}/error.log",
                       err => "$arg{dir}/stderr" }, $class;

    $self->{port} //= free_port();

    return $self;
}


# Returns a port that nobody listens on, outside the range from which the kernel
# takes client ports.  It is reserved until this test ends, used or not, by the
# name of an abstract socket, which the kernel frees.

sub free_port {
    for (1 .. 200) {
        my $port = 20000 + int rand 10000;

        my $claim = IO::Socket::UNIX->new(Local => "\0svc-test-port-$port",
                                          Listen => 1) or next;
        my $sock = IO::Socket::INET->new(
            Listen => 1, LocalAddr => '127.0.0.1', LocalPort => $port
        ) or next;

        push @CLAIMS, $claim;

        return $port;
    }

    die "no free port\n";
}


# Returns whether nginx was configured with this.

sub built_with {
    my ($word) = @_;

    $ARGUMENTS //= (run([$BIN, '-V']))[1];

    return index($ARGUMENTS, $word) >= 0;
}


# Returns whether nginx has this version, such as 1.25.1, or a later one.

sub version_from {
    my ($version) = @_;

    built_with('');
    $ARGUMENTS =~ m{nginx/([0-9.]+)} or die "nginx -V: $ARGUMENTS\n";

    return version->parse($1) >= version->parse($version);
}


# Returns a server's lines for HTTP/2, besides HTTP/1 on another port.

sub http2_lines {
    my ($port) = @_;

    return "        listen 127.0.0.1:$port;\n        http2 on;\n"
        if version_from('1.25.1');

    return "        listen 127.0.0.1:$port http2;\n";
}


# Returns the folder of the modules; undef when they are built into nginx.  It
# is the test's own, so that a build during the test does not change what nginx
# loads: make replaces files by rename.  A copy of 20 MB takes longer than nginx
# does to start.

sub modules {
    my ($self) = @_;

    my $dir = $self->{module_dir} // $ENV{SVC_TEST_MODULES}
              // "$self->{root}/build/modules";
    my $copy = "$self->{dir}/modules";

    return if $dir eq '';

    if (!-d $copy) {
        $dir = "$self->{root}/$dir" if $dir !~ m{^/};

        my @built = glob "$dir/*.so"
            or BAIL_OUT("no modules are in $dir: make build");

        mkdir $copy or die "$copy: $!\n";

        for my $file (@built) {
            link $file, "$copy/" . basename($file) or copy($file, $copy)
                or die "$file: $!\n";
        }
    }

    return $copy;
}


sub load_module_lines {
    my ($self) = @_;

    my $dir = $self->modules // return '';

    return join '', map { "load_module $dir/$_;\n" }
                    @{ $self->{load} // [ qw(ngx_http_svc_common_module.so
                                             ngx_http_svc_scim_module.so
                                             ngx_http_svc_admin_module.so
                                             ngx_http_svc_webhook_module.so) ] };
}


# Formats directives from a hash: undef leaves one out, an array repeats it.

sub directives {
    my ($indent, $table) = @_;

    my $text = '';

    for my $name (sort keys %$table) {
        my $value = $table->{$name} // next;

        $text .= "$indent$name $_;\n" for ref $value ? @$value : $value;
    }

    return $text;
}


sub temp_paths {
    my ($self) = @_;

    my $text = "    client_body_temp_path $self->{dir}/tmp_body;\n";

    for my $name (qw(proxy fastcgi uwsgi scgi)) {
        $text .= "    ${name}_temp_path $self->{dir}/tmp_$name;\n"
            if !built_with("--without-http_${name}_module");
    }

    return $text;
}


# Returns the whole configuration.  svc: directives of the http block, over the
# defaults; scim: those of the SCIM location; listen: more of its parameters;
# main, http, server, locations: text added there.

sub configuration {
    my ($self) = @_;

    my %svc = (%{ $self->{svc_default} }, %{ $self->{svc} // {} });
    my %scim = (svc_scim => 'on', %{ $self->{scim} // {} });

    my $user = $> == 0 ? 'user ' . run_user() . ";\n" : '';
    my $listen = $self->{listen} ? " $self->{listen}" : '';
    my $h2 = $self->{http2_port} ? http2_lines($self->{http2_port}) : '';
    my ($main, $http, $server, $locations)
        = map { $self->{$_} // '' } qw(main http server locations);

    return $self->load_module_lines . $user . <<"EOT"
daemon off;
worker_processes $self->{workers};
error_log $self->{log} info;
pid $self->{dir}/nginx.pid;
$main
events {
    worker_connections $self->{connections};
}

http {
    access_log off;
EOT
    . $self->temp_paths . directives('    ', \%svc) . <<"EOT"
$http
    server {
        listen 127.0.0.1:$self->{port}$listen;
$h2$server
        location /scim/v2 {
EOT
    . directives('            ', \%scim) . <<"EOT";
        }

        location /v1 {
            svc_admin on;
        }

        location = /healthz {
            svc_health;
        }

        location = /alive {
            return 200 "alive";
        }
$locations
    }
}
EOT
}


sub write_configuration {
    my ($self, $text) = @_;

    open my $fh, '>', $self->{conf} or die "$self->{conf}: $!\n";
    print $fh $text // $self->configuration;
    close $fh;
}


sub command {
    my ($self, @arg) = @_;

    return [$BIN, '-p', $self->{dir}, '-e', $self->{log}, '-c', $self->{conf},
            @arg];
}


# Runs nginx -t; returns its exit status and its output.

sub test_configuration {
    my ($self) = @_;

    return run($self->command('-t'), env => $self->environment(leaks => 0));
}


# Returns the environment of nginx.  Sanitizers write their reports to files of
# their own.  nginx -t does not free what it has allocated, so its leaks are not
# reported.

sub environment {
    my ($self, %opt) = @_;

    my $leaks = $opt{leaks} // 1;

    return {
        ASAN_OPTIONS => join(':', $ENV{ASAN_OPTIONS} // (), "detect_leaks=$leaks",
                             "log_path=$self->{dir}/asan",
                             'verify_asan_link_order=0'),
        UBSAN_OPTIONS => 'print_stacktrace=1:halt_on_error=0'
                         . ":log_path=$self->{dir}/ubsan",
        %{ $self->{env} // {} },
    };
}


# Returns the command that nginx runs under, if any.

sub checker {
    my ($self) = @_;

    return if !$ENV{SVC_TEST_VALGRIND};

    return ('valgrind', '-q', '--leak-check=full', '--num-callers=30',
            '--keep-debuginfo=yes',
            '--show-leak-kinds=definite', '--errors-for-leak-kinds=definite',
            "--suppressions=$self->{root}/t/lib/valgrind.supp",
            "--log-file=$self->{dir}/valgrind.%p");
}


# Starts nginx; tries another port when this one has been taken meanwhile.

sub launch {
    my ($self) = @_;

    for (1 .. 3) {
        $self->write_configuration;

        $self->{pid} = spawn([ $self->checker, @{ $self->command } ],
                             out => $self->{err}, env => $self->environment);

        return if wait_for { $self->worker_pids == $self->{workers}
                             || !alive($self->{pid}) } 20
                  and alive($self->{pid});

        my $said = (slurp($self->{err}) // '') . (slurp($self->{log}) // '');

        BAIL_OUT("the modules are built for another nginx than $BIN: remove"
                 . ' build/nginx-dev-* and make build')
            if $said =~ /module ".*" (?:version \d+ instead of|is not binary)/;

        die "nginx does not start: $said\n"
            if $said !~ /bind\(\) .* failed \(98:/ || $self->{fixed_port};

        unlink $self->{log}, $self->{err};
        $self->{port} = free_port();
        $self->{svc_default}{svc_base_url} =~ s/:\d+$/:$self->{port}/;
    }

    die "nginx finds no port\n";
}


sub pid {
    return $_[0]{pid};
}


# Takes over an nginx that was started otherwise, or has become a daemon.

sub take_pid {
    my ($self, $pid) = @_;

    SvcTest::Process::adopt($pid);
    $self->{pid} = $pid;
}


sub command_line {
    my ($pid) = @_;

    my $text = slurp("/proc/$pid/cmdline") // '';
    $text =~ tr/\0/ /;

    return $text;
}


# Returns the workers that take requests, without those that are shutting down.

sub worker_pids {
    my ($self) = @_;

    return grep { is_worker($_) } children($self->{pid});
}


sub is_worker {
    my ($pid) = @_;

    # under valgrind the process has valgrind's title

    return command_line($pid) =~ /^nginx: worker process\s*$|valgrind/;
}


# Returns whether these are still the workers: one that had ended would have no
# command line, and another one would be in its place.

sub are_workers {
    my ($self, @pids) = @_;

    return @pids == $self->{workers} && !grep { !is_worker($_) } @pids;
}


# Returns how many sockets the workers have open.

sub sockets {
    my ($self) = @_;

    return scalar grep { (readlink // '') =~ /^socket:/ }
                  map { glob "/proc/$_/fd/*" } $self->worker_pids;
}


sub old_worker_pids {
    my ($self) = @_;

    return grep { command_line($_) =~ /^nginx: worker process is shutting/ }
           children($self->{pid});
}


# Returns the helper processes that have this nginx's error log open, whoever
# their parent is.

sub helper_pids {
    my ($self) = @_;

    opendir my $proc, '/proc' or die "/proc: $!\n";
    my @pids = sort { $a <=> $b } grep { /^\d+$/ } readdir $proc;

    return grep { command_line($_) =~ /^nginx: webhook helper process/
                  && grep { (readlink $_ // '') =~ m{^\Q$self->{log}\E} }
                     glob "/proc/$_/fd/*" } @pids;
}


# Waits until there is one helper, and none of those in @not.  Returns its pid.

sub wait_helper {
    my ($self, @not) = @_;

    return wait_for {
        my @now = $self->helper_pids;
        my $pid = $now[0];

        return @now == 1 && !(grep { $_ == $pid } @not)
               && command_line($pid) !~ /shutting down/ && $pid;
    };
}


# Reloads the configuration, and waits until new workers run and, unless
# $opt{linger}, the old ones are gone.

sub reload {
    my ($self, %opt) = @_;

    my %old = map { $_ => 1 } $self->worker_pids;

    $self->write_configuration if !$opt{keep_configuration};
    signal_pid('HUP', $self->{pid});

    wait_for { my @now = $self->worker_pids;
               @now == $self->{workers} && !grep { $old{$_} } @now }
        or die "nginx does not reload\n";

    return if $opt{linger};

    wait_for { !grep { -e "/proc/$_" } keys %old }
        or die "an old worker does not end\n";
}


sub kill_worker {
    my ($self, $signal, $pid) = @_;

    my @pids = $self->worker_pids;
    $pid //= $pids[0];

    signal_pid($signal, $pid);

    wait_for { my @now = $self->worker_pids;
               @now == $self->{workers} && !grep { $_ == $pid } @now }
        or die "the worker is not replaced\n";

    return $pid;
}


# Shuts down gracefully.  Returns the wait status of the master, or undef when
# it does not end.

sub quit {
    my ($self) = @_;

    return 0 if !$self->{pid};

    signal_pid('QUIT', $self->{pid}) if alive($self->{pid});

    my $status = wait_exit($self->{pid});

    delete $self->{pid} if defined $status;

    return $status;
}


sub stop {
    my ($self) = @_;

    return if !alive($self->{pid});

    my @workers = children($self->{pid});

    signal_pid('CONT', @workers);
    signal_pid('TERM', $self->{pid});

    if (!defined wait_exit($self->{pid})) {
        signal_pid('KILL', $self->{pid}, @workers);
        wait_exit($self->{pid});
    }

    delete $self->{pid};
}


sub log_lines {
    my ($self) = @_;

    return split /^/, slurp($self->{log}) // '';
}


# Marks this place in the log; the function after it returns the lines since
# then that match a pattern.

sub mark_log {
    my ($self) = @_;

    $self->{mark} = () = $self->log_lines;
}


sub said {
    my ($self, $pattern) = @_;

    my @lines = $self->log_lines;

    return grep { /$pattern/ } @lines[$self->{mark} // 0 .. $#lines];
}


# Returns the beginning of each sanitizer's report, and all of valgrind's.

sub sanitizer_reports {
    my ($self) = @_;

    my $text = join '', map { slurp($_) // '' } $self->{log}, $self->{err},
                    glob "$self->{dir}/asan.* $self->{dir}/ubsan.*";
    my $valgrind = join '', map { slurp($_) // '' }
                   glob "$self->{dir}/valgrind.*";

    return $text =~ /^(.*(?:AddressSanitizer|runtime error|LeakSanitizer)
                       (?:.*\n){0,30})/mx ? $1 : $valgrind;
}


1;
