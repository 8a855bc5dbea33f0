//! `submit` and `drain`, through which all frames pass, as plain functions of Node-API.
//!
//! The work of napi-rs around a method (finding the object behind `this` and its type, tracking borrows, converting the
//! arguments) takes 0.5 µs; these functions, when there is nothing to do, take a tenth of that: see record 056.

use std::{
    cell::RefCell,
    ffi::{CStr, c_void},
    panic::{AssertUnwindSafe, catch_unwind},
    ptr::null_mut,
    rc::Rc,
    slice,
};

use napi::{
    Env, JsError,
    bindgen_prelude::{Object, Unknown},
    check_status,
    sys::{self, napi_callback_info, napi_env, napi_value},
};

use crate::exchange::Exchange;

/// Makes an object with the functions `submit` and `drain` of an exchange.
pub(crate) fn of<'env>(env: &'env Env, exchange: &Rc<RefCell<Exchange>>) -> napi::Result<Object<'env>> {
    let mut functions = Object::new(env)?;
    functions.set("submit", function(env, c"submit", submit, exchange)?)?;
    functions.set("drain", function(env, c"drain", drain, exchange)?)?;
    Ok(functions)
}

type Callback = unsafe extern "C" fn(napi_env, napi_callback_info) -> napi_value;

/// Makes a JavaScript function whose data is a share of the exchange. The function gives the share back when it is
/// collected.
#[allow(unsafe_code)]
fn function<'env>(
    env: &'env Env,
    name: &CStr,
    callback: Callback,
    exchange: &Rc<RefCell<Exchange>>,
) -> napi::Result<Unknown<'env>> {
    let (env, length) = (env.raw(), name.count_bytes() as isize);
    let data = Rc::into_raw(Rc::clone(exchange)).cast_mut().cast::<c_void>();
    let mut created = null_mut();
    // SAFETY: the environment is open, and the name outlives the call. `data` is a share that only `release` gives back; if
    // there is no function or no finaliser, it stays for ever, which is sound.
    unsafe {
        check_status!(
            sys::napi_create_function(env, name.as_ptr(), length, Some(callback), data, &mut created),
            "no function can be made"
        )?;
        check_status!(
            sys::napi_add_finalizer(env, created, data, Some(release), null_mut(), null_mut()),
            "a function can have no finaliser"
        )?;
        Ok(Unknown::from_raw_unchecked(env, created))
    }
}

/// # Safety
/// Node-API calls this once, with the data of a [`function`], on the thread of the realm: when nobody can call the
/// function any more, or when the realm ends. The exchange lives until the last share is given back, whichever share
/// that is.
#[allow(unsafe_code)]
unsafe extern "C" fn release(_env: napi_env, data: *mut c_void, _hint: *mut c_void) {
    // SAFETY: the share that `function` has made.
    let share = unsafe { Rc::from_raw(data.cast::<RefCell<Exchange>>()) };
    // A panic must not leave this function; nothing of the exchange is used again.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(share)));
}

/// `submit(requests: Uint8Array, length: number, isPolling: boolean, inline: boolean): number`
///
/// # Safety
/// Node-API calls this as the callback of a [`function`].
#[allow(unsafe_code)]
unsafe extern "C" fn submit(env: napi_env, info: napi_callback_info) -> napi_value {
    let work = |call: &Call<4>, exchange: &mut Exchange| {
        let (bytes, available) = call.bytes(0, "submit: requests must be a Uint8Array")?;
        let length = call.number(1, "submit: length must be a number")? as usize;
        if length > available {
            return Err(napi::Error::from_reason(
                "submit: length is more than requests has",
            ));
        }
        let requests = match length {
            0 => &[],
            // SAFETY: `bytes` points to `length` bytes. Nobody writes them until they have been copied: this realm runs
            // no JavaScript meanwhile, and the channel shares the memory with no other realm.
            length => unsafe { slice::from_raw_parts(bytes, length) },
        };
        let is_polling = call.boolean(2, "submit: isPolling must be a boolean")?;
        let inline = call.boolean(3, "submit: inline must be a boolean")?;
        let replies = exchange.submit(Env::from_raw(call.env), requests, is_polling, inline)?;
        call.make_number(replies)
    };
    // SAFETY: as promised.
    unsafe { answer(env, info, work) }
}

/// `drain(isPolling: boolean): number`
///
/// # Safety
/// Node-API calls this as the callback of a [`function`].
#[allow(unsafe_code)]
unsafe extern "C" fn drain(env: napi_env, info: napi_callback_info) -> napi_value {
    let work = |call: &Call<1>, exchange: &mut Exchange| {
        let is_polling = call.boolean(0, "drain: isPolling must be a boolean")?;
        let length = exchange.drain(Env::from_raw(call.env), is_polling)?;
        call.make_number(length)
    };
    // SAFETY: as promised.
    unsafe { answer(env, info, work) }
}

/// Calls `work` with the running call and the exchange of its function. An error, and a panic, is thrown in JavaScript.
///
/// # Safety
/// `env` and `info` are those of the running call of a function that [`function`] made.
#[allow(unsafe_code)]
unsafe fn answer<const N: usize>(
    env: napi_env,
    info: napi_callback_info,
    work: impl FnOnce(&Call<N>, &mut Exchange) -> napi::Result<napi_value>,
) -> napi_value {
    let run = || {
        // SAFETY: as promised.
        let (call, exchange) = unsafe { Call::of(env, info) }?;
        // Nothing in `work` runs JavaScript, so nobody has borrowed the exchange. If somebody had, this would panic.
        let mut exchange = exchange.borrow_mut();
        work(&call, &mut exchange)
    };
    // After a panic the exchange goes on in its present state. A request may get no reply, but nothing is unsound.
    let done = catch_unwind(AssertUnwindSafe(run));
    let panicked = |_| Err(napi::Error::from_reason("a native function of resqlite panicked"));
    match done.unwrap_or_else(panicked) {
        Ok(value) => value,
        Err(error) => {
            // SAFETY: the environment is that of the running call. The exchange is borrowed no longer.
            unsafe { JsError::from(error).throw_into(env) };
            null_mut()
        }
    }
}

/// The running call of a function with N arguments: the environment is open, and the arguments are values of it.
struct Call<const N: usize> {
    env: napi_env,
    arguments: [napi_value; N],
}

#[allow(unsafe_code)]
impl<const N: usize> Call<N> {
    /// Returns the call, and the exchange of its function.
    ///
    /// # Safety
    /// As for [`answer`]. The call must not be used after it has returned to JavaScript.
    unsafe fn of(env: napi_env, info: napi_callback_info) -> napi::Result<(Self, Rc<RefCell<Exchange>>)> {
        let (mut count, mut arguments, mut data) = (N, [null_mut(); N], null_mut());
        // SAFETY: there is room for N arguments; Node-API fills those that are missing with `undefined`.
        let status = unsafe {
            let arguments = arguments.as_mut_ptr();
            sys::napi_get_cb_info(env, info, &mut count, arguments, null_mut(), &mut data)
        };
        check_status!(status, "a call has no arguments")?;
        let exchange = data.cast_const().cast::<RefCell<Exchange>>();
        // SAFETY: the function could be called, so `release` has not given its share back yet; this makes one for the call.
        let exchange = unsafe {
            Rc::increment_strong_count(exchange);
            Rc::from_raw(exchange)
        };
        Ok((Self { env, arguments }, exchange))
    }

    /// Returns the address and the number of the bytes of a Uint8Array. The address means nothing if there are no
    /// bytes.
    fn bytes(&self, argument: usize, otherwise: &str) -> napi::Result<(*const u8, usize)> {
        let (mut kind, mut length, mut data) = (0, 0, null_mut());
        // SAFETY: see `Call`; this fails if the value is no typed array.
        let status = unsafe {
            let (env, value, unasked) = (self.env, self.arguments[argument], null_mut());
            sys::napi_get_typedarray_info(env, value, &mut kind, &mut length, &mut data, unasked, null_mut())
        };
        check_status!(status, "{otherwise}")?;
        match kind {
            sys::TypedarrayType::uint8_array => Ok((data.cast_const().cast(), length)),
            _ => Err(napi::Error::from_reason(otherwise)),
        }
    }

    fn number(&self, argument: usize, otherwise: &str) -> napi::Result<u32> {
        let mut number = 0;
        // SAFETY: see `Call`; this fails if the value is no number.
        let status = unsafe { sys::napi_get_value_uint32(self.env, self.arguments[argument], &mut number) };
        check_status!(status, "{otherwise}").map(|()| number)
    }

    fn boolean(&self, argument: usize, otherwise: &str) -> napi::Result<bool> {
        let mut boolean = false;
        // SAFETY: see `Call`; this fails if the value is no boolean.
        let status = unsafe { sys::napi_get_value_bool(self.env, self.arguments[argument], &mut boolean) };
        check_status!(status, "{otherwise}").map(|()| boolean)
    }

    fn make_number(&self, number: u32) -> napi::Result<napi_value> {
        let mut made = null_mut();
        // SAFETY: see `Call`.
        let status = unsafe { sys::napi_create_uint32(self.env, number, &mut made) };
        check_status!(status, "no number can be made").map(|()| made)
    }
}
