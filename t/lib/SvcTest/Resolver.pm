package SvcTest::Resolver;

# Host names for the nginx under test: t/lib/resolver.c, preloaded.
#
#     my $resolver = SvcTest::Resolver->new($s);      # before $s->start
#     $resolver->set('a.example.com' => '10.0.0.1,127.0.0.1', ...);
#
# Option: quiet, no calls(), which slow nginx down.

use strict;
use warnings;

use SvcTest::Process qw(run run_user slurp);
use SvcTest::Skip;

needs(program => 'cc');


sub new {
    my ($class, $s, %opt) = @_;

    my $self = bless { hosts => "$s->{dir}/hosts", calls => "$s->{dir}/calls",
                       name => {} }, $class;
    my $so = "$s->{dir}/resolver.so";

    my ($status, $text) = run([ $ENV{CC} || 'cc', qw(-shared -fPIC -O1 -Wall
                                -Wextra -Werror -o), $so,
                                "$s->{root}/t/lib/resolver.c", '-ldl' ]);

    die "resolver.c: $text\n" if $status != 0;

    open my $fh, '>', $self->{calls} or die "$self->{calls}: $!\n";
    chown((getpwnam run_user())[2, 3], $self->{calls}) if $> == 0;

    $self->set;

    $s->nginx->{env} = { %{ $s->nginx->{env} // {} }, LD_PRELOAD => $so,
                         SVC_TEST_HOSTS => $self->{hosts},
                         $opt{quiet} ? ()
                         : (SVC_TEST_CALLS => $self->{calls}) };

    return $self;
}


# Adds or changes names.  Each value is an address, several with commas, or
# "hang".  ":ADDRESS" has the port where connections to its port 443 end.

sub set {
    my ($self, %name) = @_;

    %{ $self->{name} } = (%{ $self->{name} }, %name);

    open my $fh, '>', "$self->{hosts}.new" or die "$self->{hosts}: $!\n";
    print $fh map { "$_ $self->{name}{$_}\n" } sort keys %{ $self->{name} };
    close $fh;

    rename "$self->{hosts}.new", $self->{hosts} or die "$self->{hosts}: $!\n";
}


# Returns how often a name was resolved, or an address connected to.

sub calls {
    my ($self, $what, $name) = @_;

    return scalar grep { $_ eq "$what $name\n" }
                  split /^/, slurp($self->{calls});
}


1;
