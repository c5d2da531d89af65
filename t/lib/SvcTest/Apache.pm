package SvcTest::Apache;

# Debian's Apache, run as the user that servers run as: it reads and writes only
# in the folder of a test.
#
#     my $apache = SvcTest::Apache->new($s, 'page.html' => 'A page');
#     $apache->launch([ 'auth_openidc' ], "OIDCRedirectURI ...");

use strict;
use warnings;

use SvcTest::Nginx ();
use SvcTest::Process qw(alive wait_for spawn run_user slurp write_file signal_pid
    wait_exit);
use SvcTest::Skip;

needs(program => 'apache2');

my @MODULES = qw(mpm_event authn_core authz_core);

my $CONFIG = <<'END';
ServerRoot DIR
ServerName 127.0.0.1
Listen 127.0.0.1:PORT
DefaultRuntimeDir DIR
PidFile DIR/pid
Mutex file:DIR
ErrorLog DIR/error.log
LogLevel warn
StartServers 1
ServerLimit 1
ThreadsPerChild 8
MaxRequestWorkers 8
DocumentRoot DIR/www
END


# Gives it a port, a folder, and files to serve.

sub new {
    my ($class, $s, %www) = @_;

    my $self = bless { dir => "$s->{dir}/apache",
                       port => SvcTest::Nginx::free_port() }, $class;

    mkdir $_ or die "$_: $!\n" for $self->{dir}, "$self->{dir}/www";
    write_file("$self->{dir}/www/$_", $www{$_}) for keys %www;
    chown((getpwnam run_user())[2, 3], $self->{dir}) if $> == 0;

    return $self;
}


sub base_url { return "http://127.0.0.1:$_[0]{port}" }


# Starts it with the modules, and with lines of configuration after its own.

sub launch {
    my ($self, $modules, $conf) = @_;

    my %set = (DIR => $self->{dir}, PORT => $self->{port});

    write_file("$self->{dir}/conf",
               join('', map { "LoadModule ${_}_module /usr/lib/apache2/modules/mod_$_.so\n" }
                        @MODULES, @$modules)
               . $CONFIG =~ s/\b(DIR|PORT)\b/$set{$1}/gr . $conf);

    $self->{pid} = spawn([ '/usr/sbin/apache2', '-f', "$self->{dir}/conf", '-DFOREGROUND' ],
                         user => run_user(), out => "$self->{dir}/out");

    wait_for { -e "$self->{dir}/pid" || !alive($self->{pid}) };

    die 'no apache: ' . $self->said if !alive($self->{pid});
}


# Returns what it has logged.

sub said {
    my ($self) = @_;

    return join '', map { slurp("$self->{dir}/$_") // '' } qw(out error.log);
}


sub stop {
    my ($self) = @_;

    signal_pid('TERM', $self->{pid});
    wait_exit($self->{pid});
}


1;
