use haft_http::{AddressClass, AddressGuard, GuardRejection, HttpError, HttpRequest};

use super::{Names, guarded, rejected};

#[tokio::test]
async fn addresses_are_rejected_in_every_spelling() {
    use AddressClass::{
        Benchmarking, Broadcast, Documentation, LinkLocal, Loopback, Metadata, Multicast, Private, Reserved, Shared,
        UniqueLocal, Unspecified,
    };
    let names = Names::default();
    let client = guarded(AddressGuard::new(), &names);
    let table = [
        (Loopback, "http://127.0.0.1/ https://127.0.0.1/ http://127.0.0.1:8080/ http://127.255.255.254/"),
        // Decimal, octal, hexadecimal, short and mixed forms.
        (Loopback, "http://2130706433/ http://0177.0.0.1/ http://0x7f.0.0.1/ http://0x7f000001/ http://127.1/"),
        (Loopback, "http://127.0.1/ http://017700000001/ http://0x7f.1/ http://0177.0x0.1/ http://00000177.1/"),
        // A dot at the end, percent-encoding, full-width digits and other dots.
        (
            Loopback,
            "http://127.0.0.1./ http://0x7f.1./ http://%31%32%37.0.0.1/ http://１２７.0.0.1/ http://127。0。0。1/",
        ),
        (Loopback, "http://①②⑦.⓪.⓪.①/ http://127%2e0%2e0%2e1/"),
        // Users, fragments, backslashes and tabs around the host.
        (Loopback, "http://example.com@127.0.0.1/ http://example.com:80@127.0.0.1:80/ http://a%40b@127.1/"),
        (Loopback, "http://127.0.0.1#@example.com/ http://127.0.0.1?@example.com/ http:\\\\127.0.0.1\\@example.com/"),
        (Loopback, "http:127.0.0.1/ http:/127.0.0.1/ http:////127.0.0.1/ http://127.\t0.0.1/"),
        (Loopback, "http://[::1]/ http://[0:0:0:0:0:0:0:1]/ http://[::ffff:127.0.0.1]/ http://[::ffff:7f00:1]/"),
        (Loopback, "http://[::127.0.0.1]/ http://[64:ff9b::7f00:1]/ http://[2002:7f00:1::]/ http://[::ffff:0:7f00:1]/"),
        (Loopback, "http://[2001:0:7f00:1::1]/ http://[2001:0:808:808::80ff:fffe]/"),
        (Unspecified, "http://0/ http://0.0.0.0/ http://0.1.2.3/ http://[::]/ http://[::ffff:0:0]/ http://0x0/"),
        (Private, "http://10.0.0.1/ http://172.16.0.1/ http://172.31.255.255/ http://192.168.1.1/ http://0xa000001/"),
        (Private, "http://[::ffff:192.168.1.1]/ http://[64:ff9b::10.0.0.1]/ http://3232235777/ http://012.1/"),
        (Shared, "http://100.64.0.1/ http://100.127.255.255/"),
        (LinkLocal, "http://169.254.1.1/ http://[fe80::1]/"),
        (UniqueLocal, "http://[fc00::1]/ http://[fd12::1]/ http://[fec0::1]/"),
        (
            Metadata,
            "http://169.254.169.254/latest/meta-data/ http://2852039166/ http://0xa9fea9fe/ http://[fd00:ec2::254]/",
        ),
        (
            Metadata,
            "http://[::ffff:a9fe:a9fe]/ http://0251.0376.0251.0376/ http://100.100.100.200/ http://168.63.129.16/",
        ),
        (Multicast, "http://224.0.0.1/ http://[ff02::1]/"),
        (Broadcast, "http://255.255.255.255/ http://4294967295/"),
        (Documentation, "http://192.0.2.1/ http://198.51.100.1/ http://203.0.113.1/ http://[2001:db8::1]/"),
        (Benchmarking, "http://198.18.0.1/ http://[2001:2::1]/"),
        (Reserved, "http://240.0.0.1/ http://192.0.0.8/ http://[100::1]/ http://[64:ff9b:1::1]/ http://[::8.8.8.8]/"),
    ];
    let mut count = 0;
    for (class, urls) in table {
        for url in urls.split(' ') {
            assert_eq!(rejected(&client, url).await, GuardRejection::Address(class), "{url}");
            count += 1;
        }
    }
    assert!(count >= 60, "{count}");
    assert_eq!(names.asked(), [""; 0], "an address is not resolved");
}

#[tokio::test]
async fn names_are_rejected_by_what_they_resolve_to() {
    use AddressClass::{LinkLocal, Loopback, Metadata, Private, UniqueLocal, Unspecified};
    let table = [
        ("localhost", "127.0.0.1", Loopback),
        ("localhost.", "127.0.0.1", Loopback),
        ("six.example", "::1", Loopback),
        ("mapped.example", "::ffff:127.0.0.1", Loopback),
        ("translated.example", "64:ff9b::7f00:1", Loopback),
        ("private.example", "10.0.0.1", Private),
        ("local.example", "fd00::1", UniqueLocal),
        ("link.example", "fe80::1", LinkLocal),
        ("metadata.example", "169.254.169.254", Metadata),
        ("zero.example", "0.0.0.0", Unspecified),
        // One address that is not public is enough, wherever it stands.
        ("first.example", "127.0.0.1 93.184.215.14", Loopback),
        ("last.example", "93.184.215.14 2606:2800::1 10.0.0.1", Private),
        ("xn--bcher-kva.example", "127.0.0.1", Loopback),
    ];
    for (name, answer, class) in table {
        let names = Names::new([(name, &[answer])]);
        let client = guarded(AddressGuard::new(), &names);
        for url in [format!("http://{name}:8080/x?key=k"), format!("https://user@{}/", name.to_uppercase())] {
            let error = client.send(HttpRequest::get(&url)).await.unwrap_err();
            assert_eq!(super::rejection(&error), GuardRejection::ResolvedAddress(class), "{url}");
            let shown = format!("{error} {error:?}");
            assert!(error.to_string().contains(name), "{shown}");
            assert!(answer.split(' ').all(|address| !shown.contains(address)) && !shown.contains("key=k"), "{shown}");
        }
        assert_eq!(names.asked(), [name, name]);
    }
}

#[tokio::test]
async fn the_resolver_of_the_system_is_checked_too() {
    let client = crate::server::builder().guarded(AddressGuard::new()).unwrap();
    assert_eq!(rejected(&client, "http://localhost/").await, GuardRejection::ResolvedAddress(AddressClass::Loopback));
}

#[tokio::test]
async fn metadata_services_are_rejected_by_name() {
    let names = Names::default();
    let client = guarded(AddressGuard::new(), &names);
    for host in ["metadata.google.internal", "METADATA.google.internal.", "metadata", "metadata.goog", "instance-data"]
    {
        assert_eq!(rejected(&client, &format!("http://{host}/")).await, GuardRejection::MetadataHost, "{host}");
    }
    assert_eq!(names.asked(), [""; 0]);
}

#[tokio::test]
async fn a_name_without_addresses_is_a_dns_error() {
    let client = guarded(AddressGuard::new(), &Names::new([("empty.example", &[""])]));
    for host in ["empty.example", "unknown.example"] {
        let error = client.send(HttpRequest::get(format!("http://{host}/"))).await.unwrap_err();
        assert!(matches!(error, HttpError::Dns { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn a_request_may_not_name_another_host_than_its_url() {
    let client = guarded(AddressGuard::new(), &Names::default());
    let request = HttpRequest::get("http://public.example/").header("Host", "internal.example");
    let error = client.send(request).await.unwrap_err();
    assert_eq!(super::rejection(&error), GuardRejection::HostHeader);
}
