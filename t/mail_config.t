#!/usr/bin/perl

# Shows which values of the directives of mail, and which templates, nginx -t takes.

use strict;
use warnings;

use File::Copy qw(copy);
use Test::More;

use SvcTest;
use SvcTest::Process qw(write_file);


my $s = SvcTest->new(pg => 0, redis => 0, svc => {
    svc_mail => 'smtp://mail.example.com:587',
    svc_mail_from => 'no-reply@example.com' });
my $nginx = $s->nginx;
my %svc = (%{ $nginx->{svc} }, svc_mail_templates => "$s->{root}/conf/mail");


sub check {
    my (%set) = @_;

    $nginx->{svc} = { %svc, %set };
    $nginx->write_configuration;

    return $nginx->test_configuration;
}


sub shown { return join ' ', map { ref $_ ? @$_ : $_ // 'off' } @_ }


sub passes {
    my (%set) = @_;

    my ($status, $text) = check(%set);

    is($status, 0, shown(map { $_, $set{$_} } sort keys %set)) or diag($text);
    unlike($text, qr/\[warn\]/, 'without a warning');
}


sub fails {
    my ($set, @patterns) = @_;

    my ($status, $text) = check(%$set);

    isnt($status, 0, shown(map { $_, $set->{$_} } sort keys %$set)
                     . ' is refused');
    like($text, $_, 'and says what would be right') for @patterns;
}


# --- the server ---------------------------------------------------------------------

passes(svc_mail => $_) for 'smtp://mail.example.com', 'smtps://mail.example.com',
                           'smtp://192.0.2.1:2525', 'smtps://[2001:db8::1]:465';

fails({ svc_mail => $_ }, qr/"svc_mail" takes a server such as .*smtps:/)
    for 'mail.example.com', 'http://mail.example.com', 'smtp://', 'smtp://:25',
        'smtp://user@mail.example.com', 'smtp://mail.example.com/path',
        'smtp://mail.example.com:0', 'smtp://mail.example.com:65536',
        'smtp://mail.example.com:x', 'smtp://ma%69l.example.com',
        'smtp://unix:/run/x', '""', 'SMTP://mail.example.com';

fails({ svc_mail => [ ('smtp://a.example') x 2 ] }, qr/"svc_mail".* duplicate/);

for my $row ([ svc_redis => 'svc_redis 127' ],
             [ svc_key_file => 'svc_key_file /etc' ])
{
    my ($name, $hint) = @$row;

    fails({ $name => undef }, qr/"svc_mail" needs "\Q$hint\E/);
}


# --- the sender -----------------------------------------------------------------------

passes(svc_mail_from => $_)
    for 'no-reply@example.com', '"Acme <no-reply@example.com>"',
        '"Acmé, sign-in <no-reply@example.com>"', '<no-reply@example.com>';

fails({ svc_mail_from => undef }, qr/"svc_mail" needs "svc_mail_from no-reply/);

fails({ svc_mail_from => $_ }, qr/"svc_mail_from" takes an address such as/)
    for 'nobody', '"Acme no-reply@example.com"', '"Acme <a@b> <c@d>"',
        '"Acme <no-reply@example.com"', '""', '"a@b, c@d"', '"Acme\n <a@b>"',
        "\"\xff <a\@b>\"", '"' . 'x' x 129 . ' <a@b>"';


# --- TLS, and credentials -----------------------------------------------------------

my $file = "$s->{dir}/credentials";

sub credentials {
    my ($text, $mode) = @_;

    write_file($file, $text);
    chmod $mode // 0600, $file;

    return { svc_mail_credentials => $file };
}

passes(%{ credentials($_) }) for "user:password\n", 'user:pass:word',
                                 'user@example.com:pass word';

fails(credentials($_), qr/must be one line "user:password"/)
    for '', "\n", 'user', ':password', 'user:', "user:pass\nword\n",
        "user:pass\r\n", "user:" . 'x' x 1100;

fails({ svc_mail_credentials => "$s->{dir}/none" },
      qr/no credentials file .*make one with: .*user:password/);
fails({ svc_mail_credentials => $s->{dir} }, qr/not a regular file/);

like((check(%{ credentials("user:password\n", 0644) }))[1],
     qr/\[warn\] .*credentials file .*chmod 600/, 'one that others can read');

passes(svc_mail_tls => $_) for qw(required opportunistic);
passes(svc_mail => "smtp://$_:25", svc_mail_tls => 'off')
    for qw(localhost 127.0.0.1 127.1.2.3 [::1]);

fails({ svc_mail_tls => $_ }, qr/takes "required", "opportunistic" or "off"/)
    for qw(on none Required), '""';
fails({ svc_mail_tls => 'off', svc_mail => "smtp://$_" },
      qr/"svc_mail_tls off" would send .* in the clear .*localhost/)
    for qw(mail.example.com 128.0.0.1 localhost.example.com [::2]);
fails({ %{ credentials("user:password\n") }, svc_mail_tls => 'opportunistic' },
      qr/would give the password .*use "svc_mail_tls required;"/);


# --- numbers --------------------------------------------------------------------------

passes(svc_mail_concurrency => $_) for 1, 4, 64;
fails({ svc_mail_concurrency => $_ }, qr/must be a number from 1 to 64/)
    for 0, 65, -1, 'x', '""';

passes(svc_mail_timeout => $_) for '1s', '30s', '10m';
fails({ svc_mail_timeout => $_ }, qr/must be a time from 1s to 10m/)
    for '999ms', '11m', 'soon', '""';

passes(svc_mail_retry => $_) for '5s 30s 2m', '1ms', '1s 2s 3s 4s 5s 6s 7s 8s';
fails({ svc_mail_retry => $_ }, qr/takes 1 to 8 times since the first attempt/)
    for '0', '5s 5s', '5s 1s', '61m', 'soon', '1s 2s 3s 4s 5s 6s 7s 8s 9s';


# --- templates ----------------------------------------------------------------------------

my $folder = "$s->{dir}/templates";

sub templates {
    my (%set) = @_;

    unlink glob "$folder/*";
    mkdir $folder;
    copy($_, $folder) or die "$_: $!\n" for glob "$s->{root}/conf/mail/*";

    for my $name (keys %set) {
        unlink "$folder/$name";
        write_file("$folder/$name", $set{$name}) if defined $set{$name};
    }

    return { svc_mail_templates => $folder };
}

passes(%{ templates() });
passes(%{ templates('reset.txt~' => '{{x}}', README => 'x',
                    'reset.txt' => "{{#ip}}a{{/ip}}{{code}} } { {\n") });
passes(%{ templates(map { ("reset.$_" => undef, "reset.en.$_" => 'x') }
                    qw(subject txt html)) });

for my $row (
    [ { 'reset.txt' => "a\n\nb {{user}}\n" },
      qr{templates/reset\.txt:3 has an unknown placeholder: .*\{\{code\}\}} ],
    [ { 'mfa.de.html' => '{{}}' }, qr{mfa\.de\.html:1 has an unknown} ],
    [ { 'mfa.html' => "\n{{Code}}" }, qr{mfa\.html:2 has an unknown} ],
    [ { 'mfa.html' => "\n{{code" }, qr{mfa\.html:2 has "\{\{" without} ],
    [ { 'mfa.html' => '{{#ip}}x' }, qr/mfa\.html:1 has "\{\{#" without/ ],
    [ { 'mfa.html' => "{{#ip}}\n{{/code}}" }, qr/mfa\.html:2 has "\{\{\/"/ ],
    [ { 'mfa.html' => '{{/ip}}' }, qr/mfa\.html:1 has "\{\{\/" without/ ],
    [ { 'mfa.html' => "{{#ip}}\n{{#code}}{{/code}}{{/ip}}" },
      qr/mfa\.html:2 has a "\{\{#" within/ ],
    [ { 'mfa.txt' => "a\nb\xff\n" }, qr{mfa\.txt:2 is not valid UTF-8} ],
    [ { 'mfa.txt' => "a\nb\0\n" }, qr{mfa\.txt:2 is not valid UTF-8} ],
    [ { 'mfa.subject' => "a\nb\n" }, qr{mfa\.subject:1 has a line break} ],
    [ { 'mfa.subject' => "a\r\nb" }, qr{mfa\.subject:1 has a line break} ],
    [ { 'mfa.subject' => "a\tb" }, qr{mfa\.subject:1 has a line break} ],
    [ { 'mfa.subject' => "\n" }, qr{mfa\.subject:1 is empty} ],
    [ { 'mfa.html' => undef }, qr{there is no file ".*/mfa\.html"} ],
    [ { 'mfa.de.txt' => undef }, qr{there is no file ".*/mfa\.de\.txt"} ],
    [ { map { ("locked.$_" => undef) } qw(subject txt html) },
      qr{there is no file ".*/locked\.subject"} ],
    [ { 'rest.txt' => 'x' }, qr{the name of ".*/rest\.txt" must be} ],
    [ { 'reset.d.txt' => 'x' }, qr{the name of ".*/reset\.d\.txt" must be} ],
    [ { 'mfa.txt' => 'x' x 65537 }, qr{mfa\.txt" has more than 65536 bytes} ])
{
    my ($files, $pattern) = @$row;

    fails(templates(%$files), qr/"svc_mail_templates": .*/, $pattern);
}

fails({ svc_mail_templates => "$s->{dir}/none" },
      qr{folder ".*/none" cannot be read: "make install" puts});
fails({ svc_mail_templates => undef }, qr{/usr/share/ngx_svc/mail})
    if !-d '/usr/share/ngx_svc/mail';

done_testing();
