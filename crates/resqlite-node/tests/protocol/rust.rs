//! Reads declarations from Rust sources.

use std::{fs, path::Path};

use syn::{
    Attribute, BinOp, Expr, Fields, ItemEnum, Lit, Meta, Token, UnOp, braced,
    parse::{Parse, ParseStream},
    punctuated::Punctuated,
};

/// A Rust source file of the workspace.
pub struct Source {
    path: String,
    pub docs: String,
    items: Vec<syn::Item>,
}

/// Something with a name and a number.
pub struct Item {
    pub name: String,
    pub docs: String,
    pub number: i128,
}

/// Several of them.
pub struct Table {
    pub docs: String,
    pub items: Vec<Item>,
}

/// A counter.
pub struct Field {
    pub name: String,
    pub docs: String,
    /// As the tokens of the type, separated by spaces.
    pub rust_type: String,
}

impl Source {
    /// Reads a file below `crates`.
    pub fn read(path: &str) -> Self {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
        let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        Self {
            path: path.to_owned(),
            docs: docs(&parsed.attrs),
            items: parsed.items,
        }
    }

    fn find<'a, T>(&'a self, what: &str, find: impl FnMut(&'a syn::Item) -> Option<T>) -> T {
        let found = self.items.iter().find_map(find);
        found.unwrap_or_else(|| panic!("crates/{} has no {what}", self.path))
    }

    /// A constant of the file.
    pub fn constant(&self, name: &str) -> Item {
        self.find(name, |item| constant(item).filter(|item| item.name == name))
    }

    /// The constants of a module inside of the file.
    pub fn module_constants(&self, name: &str) -> Table {
        self.find(name, |item| match item {
            syn::Item::Mod(module) if module.ident == name => Some(Table {
                docs: docs(&module.attrs),
                items: module
                    .content
                    .iter()
                    .flat_map(|(_, items)| items)
                    .filter_map(constant)
                    .collect(),
            }),
            _ => None,
        })
    }

    /// The constants of a tuple struct: its flags.
    pub fn associated_constants(&self, name: &str) -> Table {
        let attributes = self.find(name, |item| match item {
            syn::Item::Struct(declared) if declared.ident == name => Some(docs(&declared.attrs)),
            _ => None,
        });
        let items = self.find(name, |item| match item {
            syn::Item::Impl(block) if is_named(&block.self_ty, name) => Some(&block.items),
            _ => None,
        });
        let constants = items.iter().filter_map(|item| match item {
            syn::ImplItem::Const(item) => Some(Item {
                name: item.ident.to_string(),
                docs: docs(&item.attrs),
                number: evaluate(&item.expr),
            }),
            _ => None,
        });
        Table {
            docs: attributes,
            items: constants.filter(|item| item.number != 0).collect(),
        }
    }

    /// The variants of an enum.
    pub fn variants(&self, name: &str) -> Table {
        self.find(name, |item| match item {
            syn::Item::Enum(declared) if declared.ident == name => Some(variants(declared)),
            _ => None,
        })
    }

    /// The variants of an enum that `byte_enum!` declares.
    pub fn byte_enum(&self, name: &str) -> Table {
        self.find(name, |item| match item {
            syn::Item::Macro(call) if call.mac.path.is_ident("byte_enum") => {
                let declared: ItemEnum = call.mac.parse_body().expect("byte_enum! holds an enum");
                (declared.ident == name).then(|| variants(&declared))
            }
            _ => None,
        })
    }

    /// The fields of a struct.
    pub fn fields(&self, name: &str) -> Vec<Field> {
        self.find(name, |item| match item {
            syn::Item::Struct(declared) if declared.ident == name => Some(fields(&declared.fields)),
            _ => None,
        })
    }

    /// The lists of names that a macro is called with: `name { a, b, }`.
    pub fn macro_lists(&self, name: &str) -> Vec<(String, Vec<Field>)> {
        self.find(name, |item| match item {
            syn::Item::Macro(call) if call.mac.path.is_ident(name) => {
                let lists: Lists = call
                    .mac
                    .parse_body()
                    .expect("the macro is called with lists of names");
                Some(lists.0)
            }
            _ => None,
        })
    }
}

struct Lists(Vec<(String, Vec<Field>)>);

impl Parse for Lists {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut lists = Vec::new();
        while !input.is_empty() {
            let name: syn::Ident = input.parse()?;
            let content;
            braced!(content in input);
            let names = Punctuated::<Name, Token![,]>::parse_terminated(&content)?;
            lists.push((name.to_string(), names.into_iter().map(|name| name.0).collect()));
        }
        Ok(Self(lists))
    }
}

struct Name(Field);

impl Parse for Name {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        Ok(Self(Field {
            docs: docs(&input.call(Attribute::parse_outer)?),
            name: input.parse::<syn::Ident>()?.to_string(),
            rust_type: String::new(),
        }))
    }
}

fn constant(item: &syn::Item) -> Option<Item> {
    match item {
        syn::Item::Const(item) => Some(Item {
            name: item.ident.to_string(),
            docs: docs(&item.attrs),
            number: number(&item.expr)?,
        }),
        _ => None,
    }
}

fn variants(declared: &ItemEnum) -> Table {
    let mut next = 0;
    let items = declared.variants.iter().map(|variant| {
        let number = variant
            .discriminant
            .as_ref()
            .map_or(next, |(_, expression)| evaluate(expression));
        next = number + 1;
        Item {
            name: variant.ident.to_string(),
            docs: docs(&variant.attrs),
            number,
        }
    });
    Table {
        items: items.collect(),
        docs: docs(&declared.attrs),
    }
}

fn fields(fields: &Fields) -> Vec<Field> {
    let field = |field: &syn::Field| {
        let declared = &field.ty;
        Field {
            name: field.ident.as_ref().map(ToString::to_string).unwrap_or_default(),
            docs: docs(&field.attrs),
            rust_type: quote::quote!(#declared).to_string(),
        }
    };
    fields.iter().map(field).collect()
}

fn is_named(declared: &syn::Type, name: &str) -> bool {
    matches!(declared, syn::Type::Path(path) if path.path.is_ident(name))
}

fn evaluate(expression: &Expr) -> i128 {
    number(expression).unwrap_or_else(|| panic!("{} is no number", quote::quote!(#expression)))
}

/// The value of the expressions that numbers of the protocol are written with.
fn number(expression: &Expr) -> Option<i128> {
    match expression {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(number) => number.base10_parse().ok(),
            _ => None,
        },
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => Some(-number(&unary.expr)?),
        Expr::Binary(binary) => {
            let (left, right) = (number(&binary.left)?, number(&binary.right)?);
            match binary.op {
                BinOp::Shl(_) => Some(left << right),
                BinOp::Mul(_) => Some(left * right),
                _ => None,
            }
        }
        // `Self(1)`
        Expr::Call(call) => number(call.args.first()?),
        Expr::Path(path) => match quote::quote!(#path).to_string().as_str() {
            "i32 :: MIN" => Some(i32::MIN.into()),
            "i64 :: MIN" => Some(i64::MIN.into()),
            _ => None,
        },
        _ => None,
    }
}

fn docs(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(meta) if meta.path.is_ident("doc") => match &meta.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => Some(without_indent(&text.value())),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A line of documentation without the space behind the slashes.
fn without_indent(line: &str) -> String {
    line.strip_prefix(' ').unwrap_or(line).trim_end().to_owned()
}
