package SvcTest::Urls;

# URLs that neither a webhook nor any other setting of a tenant may have: some
# parser of URLs takes each of them for an address that is forbidden.

use strict;
use warnings;
use utf8;

use Exporter qw(import);

our @EXPORT_OK = qw(@REFUSED_URLS);


our @REFUSED_URLS = (
    'http://example.com/', 'HTTP://example.com/', 'ftp://example.com/',
    '//example.com/', 'example.com', 'https:example.com', 'https:/example.com',
    'https://', 'https:///', 'https:///example.com/', 'https://:443/',
    'https://user@example.com/', 'https://a:b@example.com/',
    'https://example.com@127.0.0.1/', 'https://example.com/#x',
    'https://example.com#@127.0.0.1/', 'https://example.com:0/',
    'https://example.com:65536/', 'https://example.com:/',
    'https://example.com:x/', 'https://exa mple.com/', ' https://example.com/',
    "https://example.com/\n", "https://exa\tmple.com/", 'https:\\\\example.com',
    'https://example.com\\@127.0.0.1/', 'https://example.com/a\\b',
    'https://localhost/', 'https://LOCALHOST:8443/', 'https://localhost./',
    'https://a.localhost/', 'https://printer.local/', 'https://PRINTER.LOCAL/',
    'https://loc%61lhost/', 'https://127%2e0.0.1/', 'https://%31%32%37.0.0.1/',
    'https://bücher.example/', 'https://127。0。0。1/', 'https://１２７.0.0.1/',
    'https://ⓛocalhost/', 'https://①②⑦.0.0.1/',
    'https://0.0.0.0/', 'https://127.0.0.1/', 'https://127.0.0.1./',
    'https://127.255.255.255:8443/', 'https://10.0.0.1/', 'https://10.8.0.1/',
    'https://100.64.0.1/', 'https://169.254.169.254/latest/meta-data',
    'https://172.16.0.1/', 'https://192.0.0.1/', 'https://192.0.2.1/',
    'https://192.88.99.1/', 'https://192.168.1.1/', 'https://198.18.0.1/',
    'https://198.51.100.1/', 'https://203.0.113.1/', 'https://224.0.0.1/',
    'https://240.0.0.1/', 'https://255.255.255.255/',
    'https://2130706433/', 'https://017700000001/', 'https://0x7f000001/',
    'https://0X7F.0.0.1/', 'https://0x7f.1/', 'https://127.1/',
    'https://127.0.1/', 'https://0177.0.0.1/', 'https://127.0.0.01/',
    'https://0/', 'https://0x/', 'https://256.256.256.256/',
    'https://4294967297/', 'https://134744072/', 'https://1.1.1.1.1/',
    'https://[::]/', 'https://[::1]/', 'https://[::1]:8443/',
    'https://[0:0:0:0:0:0:0:1]/', 'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]/', 'https://[::127.0.0.1]/',
    'https://[64:ff9b::127.0.0.1]/', 'https://[64:ff9b:1::1]/',
    'https://[fc00::1]/', 'https://[fd00:ec2::254]/', 'https://[fe80::1]/',
    'https://[fe80::1%25eth0]/', 'https://[fe80::1%eth0]/',
    'https://[fec0::1]/', 'https://[ff02::1]/', 'https://[2001::1]/',
    'https://[2001:db8::1]/', 'https://[2002:7f00:1::]/', 'https://[3fff::1]/',
    'https://[5f00::1]/', 'https://[127.0.0.1]/', 'https://[::1/',
    'https://[::1]x/', 'https://::1/', 'https://' . 'a' x 64 . '/',
    'https://' . 'a.' x 126 . 'aa/', 'https://a..example/', 'https://*.example/',
    'https://example.com/' . 'x' x 2029,
);


1;
