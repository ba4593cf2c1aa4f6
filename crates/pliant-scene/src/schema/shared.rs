//! Descriptions that several kinds of a scene share.

/// Declares a description and the structs that have its keys beside their own.
///
/// In a scene file the keys of the description stand among the others; in Rust they are a field.
/// The keys are listed once, and an unknown one is refused with the names of all (which
/// `#[serde(flatten)]` would not do).
macro_rules! shared {
    (
        $(#[doc = $shared_doc:literal])*
        pub struct $Shared:ident as $field:ident $keys:tt

        $($structs:tt)*
    ) => {
        shared!(@description [$(#[doc = $shared_doc])*] $Shared $keys);
        shared!(@structs $Shared $field $keys $($structs)*);
    };
    (@description [$($doc:tt)*] $Shared:ident {
        $($(#[doc = $key_doc:literal])* $(#[serde($($how:tt)*)])? pub $key:ident: $type:ty,)*
    }) => {
        $($doc)*
        #[derive(Clone, Debug)]
        pub struct $Shared {
            $($(#[doc = $key_doc])* pub $key: $type,)*
        }
    };
    (@structs $Shared:ident $field:ident $keys:tt) => {};
    (@structs $Shared:ident $field:ident $keys:tt
        $(#[doc = $doc:literal])*
        #[serde(rename = $name:literal)]
        pub struct $Struct:ident $own:tt

        $($rest:tt)*
    ) => {
        shared!(@one [$(#[doc = $doc])*] $name $Struct $own $Shared $field $keys);
        shared!(@structs $Shared $field $keys $($rest)*);
    };
    (@one [$($doc:tt)*] $name:literal $Struct:ident {
        $($(#[doc = $own_doc:literal])* $(#[serde($($own_how:tt)*)])? pub $own:ident: $own_type:ty,)*
    } $Shared:ident $field:ident {
        $($(#[doc = $key_doc:literal])* $(#[serde($($how:tt)*)])? pub $key:ident: $type:ty,)*
    }) => {
        $($doc)*
        #[derive(Clone, Debug)]
        pub struct $Struct {
            $($(#[doc = $own_doc])* pub $own: $own_type,)*
            #[doc = concat!("The keys of [`", stringify!($Shared), "`].")]
            pub $field: $Shared,
        }

        impl<'de> Deserialize<'de> for $Struct {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                #[derive(Deserialize)]
                #[serde(rename = $name, deny_unknown_fields)]
                struct Keys {
                    $($(#[serde($($own_how)*)])? $own: $own_type,)*
                    $($(#[serde($($how)*)])? $key: $type,)*
                }
                let keys = Keys::deserialize(deserializer)?;
                Ok(Self {
                    $($own: keys.$own,)*
                    $field: $Shared { $($key: keys.$key,)* },
                })
            }
        }
    };
}
