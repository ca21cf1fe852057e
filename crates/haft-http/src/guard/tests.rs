use std::net::IpAddr;

use reqwest::Url;

use super::{AddressCheck, AddressClass, AddressGuard, GuardRejection};

fn check(guard: &AddressGuard, url: &str) -> Result<AddressCheck, GuardRejection> {
    guard.check_url(&Url::parse(url).unwrap())
}

fn resolved(guard: &AddressGuard, check: AddressCheck, addresses: &str) -> Result<(), GuardRejection> {
    let addresses: Vec<IpAddr> = addresses.split(' ').map(|address| address.parse().unwrap()).collect();
    guard.check_resolved(check, &addresses)
}

#[test]
fn an_exempt_host_is_exempt_on_its_port_only() {
    let guard = AddressGuard::new().allow_host("localhost:8080").unwrap().allow_host("10.0.0.1").unwrap();
    assert_eq!(check(&guard, "http://localhost:8080/"), Ok(AddressCheck::Exempt));
    assert_eq!(check(&guard, "https://localhost.:8080/"), Ok(AddressCheck::Exempt));
    assert_eq!(check(&guard, "http://localhost:9090/"), Ok(AddressCheck::Public));
    assert_eq!(check(&guard, "http://a.localhost:8080/"), Ok(AddressCheck::Public));
    assert_eq!(check(&guard, "http://127.0.0.1:8080/"), Err(GuardRejection::Address(AddressClass::Loopback)));
    assert_eq!(check(&guard, "http://167772161:9/"), Ok(AddressCheck::Exempt));
    assert_eq!(check(&guard, "http://10.0.0.2/"), Err(GuardRejection::Address(AddressClass::Private)));
}

#[test]
fn an_exempt_name_may_resolve_to_all_but_metadata_services_and_denied_networks() {
    let guard = AddressGuard::new().deny_net("10.1.0.0/16".parse().unwrap());
    let exempt = |addresses| resolved(&guard, AddressCheck::Exempt, addresses);
    assert_eq!(exempt("127.0.0.1 ::1 10.0.0.1 fe80::1 8.8.8.8"), Ok(()));
    let metadata = Err(GuardRejection::ResolvedAddress(AddressClass::Metadata));
    assert_eq!(exempt("127.0.0.1 169.254.169.254"), metadata);
    assert_eq!(exempt("::ffff:169.254.169.254"), metadata);
    assert_eq!(exempt("fd00:ec2::254"), metadata);
    assert_eq!(exempt("10.0.0.1 10.1.0.1"), Err(GuardRejection::DeniedNet));
    // Without a name, the address is what the application wrote.
    let guard = AddressGuard::new().allow_host("169.254.169.254:80").unwrap();
    assert_eq!(check(&guard, "http://169.254.169.254/"), Ok(AddressCheck::Exempt));
}

#[test]
fn a_name_with_one_address_that_is_not_public_is_rejected() {
    let public = |addresses| resolved(&AddressGuard::new(), AddressCheck::Public, addresses);
    assert_eq!(public("8.8.8.8 2600::1"), Ok(()));
    for (addresses, class) in [
        ("8.8.8.8 10.0.0.1", AddressClass::Private),
        ("127.0.0.1 8.8.8.8", AddressClass::Loopback),
        ("2600::1 fd00::1", AddressClass::UniqueLocal),
    ] {
        assert_eq!(public(addresses), Err(GuardRejection::ResolvedAddress(class)), "{addresses}");
    }
}

#[test]
fn a_network_exempts_its_addresses_but_no_metadata_service() {
    let nets = ["10.0.0.0/8", "169.254.0.0/16", "fd00::/8", "0.0.0.0/0"].map(|net| net.parse().unwrap());
    let guard = nets.into_iter().fold(AddressGuard::new(), AddressGuard::allow_net);
    for address in ["10.1.2.3", "::ffff:10.1.2.3", "169.254.169.253", "fd00:ec2::1", "127.0.0.1"] {
        assert_eq!(guard.check_address(address.parse().unwrap()), Ok(()), "{address}");
        assert_eq!(resolved(&guard, AddressCheck::Public, address), Ok(()), "{address}");
    }
    for address in ["169.254.169.254", "::ffff:a9fe:a9fe", "fd00:ec2::254", "168.63.129.16"] {
        let rejected = Err(GuardRejection::Address(AddressClass::Metadata));
        assert_eq!(guard.check_address(address.parse().unwrap()), rejected, "{address}");
    }
    for address in ["64:ff9b::10.1.2.3", "2002:a01:203::1", "::10.1.2.3", "fe80::1"] {
        assert!(guard.check_address(address.parse().unwrap()).is_err(), "{address}");
    }
    let guard = guard.allow_net("169.254.169.254/32".parse().unwrap());
    assert_eq!(guard.check_address("169.254.169.254".parse().unwrap()), Ok(()));
    assert_eq!(check(&guard, "http://metadata.google.internal/"), Err(GuardRejection::MetadataHost));
}

#[test]
fn a_denied_network_is_denied_in_every_form_and_before_every_exemption() {
    let guard = AddressGuard::new()
        .deny_net("8.8.8.0/24".parse().unwrap())
        .allow_net("8.8.8.8/32".parse().unwrap())
        .allow_host("8.8.8.8")
        .unwrap();
    for host in ["8.8.8.8", "134744072", "[::ffff:8.8.8.8]", "[64:ff9b::8.8.8.8]", "[2002:808:808::1]", "[::8.8.8.8]"] {
        assert_eq!(check(&guard, &format!("http://{host}/")), Err(GuardRejection::DeniedNet), "{host}");
    }
    assert_eq!(check(&guard, "http://8.8.9.8/"), Ok(AddressCheck::Public));
}

#[test]
fn a_list_limits_the_hosts_and_replaces_no_other_rule() {
    let hosts = ["api.example.com:443", "*.example.org", "10.0.0.1", "*.google.internal"];
    let guard = AddressGuard::new().allow_only_hosts(hosts).unwrap().allow_host("localhost").unwrap();
    for (url, expected) in [
        ("https://api.example.com/", Ok(AddressCheck::Public)),
        ("http://api.example.com/", Err(GuardRejection::UnlistedHost)),
        ("https://a.b.example.org./", Ok(AddressCheck::Public)),
        ("https://example.org/", Err(GuardRejection::UnlistedHost)),
        ("https://8.8.8.8/", Err(GuardRejection::UnlistedHost)),
        ("http://10.0.0.1/", Err(GuardRejection::Address(AddressClass::Private))),
        ("http://metadata.google.internal/", Err(GuardRejection::MetadataHost)),
        ("http://localhost/", Ok(AddressCheck::Exempt)),
    ] {
        assert_eq!(check(&guard, url), expected, "{url}");
    }
    let both = guard.allow_only_hosts(["example.org"]).unwrap();
    assert_eq!(check(&both, "https://example.org/"), Ok(AddressCheck::Public));
    assert_eq!(check(&both, "https://api.example.com/"), Ok(AddressCheck::Public));
    let none = AddressGuard::new().allow_only_hosts([]).unwrap();
    assert_eq!(check(&none, "https://example.org/"), Err(GuardRejection::UnlistedHost));
}

#[test]
fn rejections_do_not_contain_addresses() {
    for class in [AddressClass::Loopback, AddressClass::Metadata, AddressClass::Private] {
        for rejection in [GuardRejection::Address(class), GuardRejection::ResolvedAddress(class)] {
            assert!(!rejection.to_string().contains(char::is_numeric), "{rejection}");
            assert!(rejection.to_string().contains(class.phrase()) && rejection.to_string().contains("allow_host"));
        }
    }
}
