"""Ways to write a place that is nobody's public server. `{p}` stands for the port of a trap."""


def _words(text: str) -> list[str]:
    return text.split()


# Addresses in their usual form: what DNS may answer, and what a URL may name.
ADDRESSES = _words("""
0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.100.100.200 100.127.255.255 127.0.0.1
127.0.0.2 127.255.255.254 168.63.129.16 169.254.0.1 169.254.169.254 172.16.0.1 172.31.255.255
192.0.0.1 192.0.0.192 192.0.2.2 192.88.99.1 192.168.0.1 192.168.255.255 198.18.0.1 198.19.255.255
198.51.100.1 203.0.113.9 224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255
:: ::1 0:0:0:0:0:0:0:1 0000:0000:0000:0000:0000:0000:0000:0001 ::127.0.0.1 ::7f00:1 ::8.8.8.8
::ffff:127.0.0.1 ::ffff:7f00:1 ::FFFF:7F00:0001 0:0:0:0:0:ffff:10.0.0.1 ::ffff:8.8.8.8
::ffff:0:127.0.0.1 64:ff9b::127.0.0.1 64:ff9b::7f00:1 64:ff9b::8.8.8.8 64:ff9b:1::7f00:1
64:ff9b:1:ffff::a00:1 100::1 2001:0:4136:e378:8000:63bf:80ff:fffe 2001:2::1 2001:10::1 2001:20::1
2001:db8::1 2002:7f00:1:: 2002:c0a8:1::1 3fff::1 4000::1 5f00::1 fc00::1 fd00::2 fd00:ec2::254
fe80::1 fe80::fc:ff:fe00:1 febf::1 fec0::1 ff02::1 ff0e::1
""")

# Hosts that some library or other takes for such an address, or for a name that leads to one.
HOSTS = _words("""
2130706433 0x7f000001 0X7F000001 017700000001 00000000017700000001 0x7f.1 0x7f.0.1 0x7f.0.0.1
0x7f.0x0.0x0.0x1 0X7f.0.0.0X1 127.1 127.0.1 127.0x1 0177.1 0177.0.0.1 0177.0.0.01 010.0.0.1 012.1
0 00 0x 0x0 0.0 127 3232235521 0xc0a80001 0300.0250.0.1 192.168.257 169.16689662 0xa9fea9fe
127.000.000.001 127.0.0.01 127.0.0.0x1 127.0.0.1. 127.0.0.1.. .127.0.0.1 127..0.1 127.0.0.1.0
1.127.0.0.1 256.0.0.1 127.0.0.256 383.0.0.1 4294967297 0x17f000001 127.0.0.-1 127.0.0.1-
127%2e0%2e0%2e1 127.0.0.%31 %31%32%37.0.0.1 l%6fcalhost localhost%2e localhost%00.good.example
127.0.0.1%00.good.example 127.0.0.1%20 127.0.0.1%09 127.0.0.1%2f.good.example 127.0.0.1%23
localhost LOCALHOST LocalHost localhost. localhost.. .localhost localhost.localdomain ip6-localhost
127.0.0.1.nip.io 7f000001.good.example metadata.google.internal xn--127-0-0-1 xn--l8je.localhost
127.0.0.1\\ 127.0.0.1\\@good.example good.example\\@127.0.0.1 good.example\\.127.0.0.1
good@127.0.0.1 good.example:443@127.0.0.1 good.example:pass@127.0.0.1 @127.0.0.1 :@127.0.0.1
good.example%40127.0.0.1 a@b@127.0.0.1 127.0.0.1@127.0.0.1 good.example;127.0.0.1
127.0.0.1,good.example 127.0.0.1;good.example 127.0.0.1&good.example $127.0.0.1 (127.0.0.1)
[127.0.0.1] [::1 ::1] [[::1]] [::1]] [::1%25lo] [::1%lo] [::1%251] [fe80::1%25eth0] [fe80::1%eth0]
[v1.127.0.0.1] [vF.::1] [::ffff:0177.0.0.1] [::ffff:127.1] [::ffff:0x7f000001] [::1].good.example
[::1]good.example good.example[::1] [0:0:0:0:0:0:0:0:1] [::1::] [1] [] ::1 ::ffff:127.0.0.1
""")

# Characters that normalise to digits, dots and letters.
HOSTS += [
    "１２７.０.０.１",
    "127。0。0。1",
    "127．0．0．1",
    "127｡0｡0｡1",
    "①②⑦.⓪.⓪.①",
    "⑯⑨.②⑤④.⑯⑨.②⑤④",
    "١٢٧.٠.٠.١",
    "𝟏𝟐𝟕.𝟎.𝟎.𝟏",
    "０ｘ７ｆ.1",
    "ｌｏｃａｌｈｏｓｔ",
    "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ",
    "ℓocalhost",
    "localhoſt",
    "local\u00adhost",
    "127.0.0.\u200b1",
    "\u2060127.0.0.1",
    "127.0.0.1\u3000",
    "[：：1]",
    "[::１]",
    "good.example＠127.0.0.1",
    "good.example／@127.0.0.1",
]

# Whole URLs: shapes, ports, schemes, blanks.
URLS = [
    "https:127.0.0.1:{p}/",
    "https:/127.0.0.1:{p}/",
    "https:///127.0.0.1:{p}/",
    "https:////127.0.0.1:{p}/",
    "https:\\\\127.0.0.1:{p}/",
    "https:/\\127.0.0.1:{p}/",
    "https://\\127.0.0.1:{p}/",
    "\\\\127.0.0.1:{p}\\",
    "//127.0.0.1:{p}/",
    "127.0.0.1:{p}/",
    "localhost:{p}",
    "https://127.0.0.1:{p}\\@good.example/",
    "https://good.example#@127.0.0.1:{p}/",
    "https://127.0.0.1:{p}#@good.example/",
    "https://127.0.0.1:{p}?@good.example/",
    "https://127.0.0.1:{p}?.good.example/",
    "https://127.0.0.1:{p}",
    "HTTPS://127.0.0.1:{p}/",
    " https://127.0.0.1:{p}/",
    "https://127.0.0.1:{p}/ ",
    "https:// 127.0.0.1:{p}/",
    "https://127.0.0.1 :{p}/",
    "https://127.0.0.1: {p}/",
    "ht\ntps://127.0.0.1:{p}/",
    "https://127.0.\t0.1:{p}/",
    "https://127.0.0.1\r\n:{p}/",
    "https://127.0.0.1:{p}/\n",
    "https://good.example\n@127.0.0.1:{p}/",
    "\x00https://127.0.0.1:{p}/",
    "https://127.0.0.1\x00.good.example:{p}/",
    "\ufeffhttps://127.0.0.1:{p}/",
    "https://127.0.0.1\x7f:{p}/",
    "https://127.0.0.1:0/",
    "https://127.0.0.1:65536/",
    "https://127.0.0.1:4294967296/",
    "https://127.0.0.1:/",
    "https://127.0.0.1:+{p}/",
    "https://127.0.0.1:-{p}/",
    "https://127.0.0.1:0x50/",
    "https://127.0.0.1:８０/",
    "https://127.0.0.1:{p}:443/",
    "https://127.0.0.1:443:{p}/",
    "https://127.0.0.1:{p}abc/",
    "https://:{p}/",
    "https://",
    "https:",
    "",
    "/",
    "ftp://127.0.0.1:{p}/",
    "ws://127.0.0.1:{p}/",
    "wss://127.0.0.1:{p}/",
    "gopher://127.0.0.1:{p}/_GET",
    "dict://127.0.0.1:{p}/d",
    "ldap://127.0.0.1:{p}/",
    "file:///etc/passwd",
    "file://127.0.0.1/etc/passwd",
    "data:text/plain,x",
    "javascript:fetch('https://127.0.0.1')",
    "unix:/run/x.sock",
    "http+unix://%2Frun%2Fx.sock/",
    "httpsx://127.0.0.1:{p}/",
    "xhttps://127.0.0.1:{p}/",
    "url:https://127.0.0.1:{p}/",
    "jar:https://127.0.0.1:{p}/!/",
    "https://[::1:{p}/",
    "https://::1:{p}/",
    "https://[::1]{p}/",
    "https://[::1]:{p}@good.example/",
]


def spelled(port: int) -> list[str]:
    """Give all of them as URLs to `port`, each once."""
    literals = [f"[{text}]" if ":" in text else text for text in ADDRESSES]
    hosts = [f"https://{host}:{port}/" for host in (*literals, *HOSTS)]
    return list(dict.fromkeys([*hosts, *(url.replace("{p}", str(port)) for url in URLS)]))
