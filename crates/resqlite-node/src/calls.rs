//! The two calls that every request takes, as plain functions of Node-API.
//!
//! What napi-rs does around a method (finding the object behind `this` and its type, tracking borrows, converting the
//! arguments) takes ten times as long as such a call itself: see record 056.

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

/// An object with the functions `submit` and `drain` of an exchange.
pub(crate) fn of<'env>(env: &'env Env, exchange: &Rc<RefCell<Exchange>>) -> napi::Result<Object<'env>> {
    let mut calls = Object::new(env)?;
    calls.set("submit", function(env, c"submit", submit, exchange)?)?;
    calls.set("drain", function(env, c"drain", drain, exchange)?)?;
    Ok(calls)
}

type Callback = unsafe extern "C" fn(napi_env, napi_callback_info) -> napi_value;

/// A function whose data is a share of the exchange, which it gives back when it is collected.
#[allow(unsafe_code)]
fn function<'env>(
    env: &'env Env,
    name: &CStr,
    callback: Callback,
    exchange: &Rc<RefCell<Exchange>>,
) -> napi::Result<Unknown<'env>> {
    let (mut function, length) = (null_mut(), name.count_bytes() as isize);
    let data = Rc::into_raw(Rc::clone(exchange)).cast_mut().cast::<c_void>();
    // SAFETY: the environment is open, and the name outlives the call. `data` is a share that `release` gives back, once and on
    // this thread; if there is no function or no finaliser, it stays for ever, which is sound.
    unsafe {
        check_status!(sys::napi_create_function(
            env.raw(),
            name.as_ptr(),
            length,
            Some(callback),
            data,
            &mut function,
        ))?;
        check_status!(sys::napi_add_finalizer(
            env.raw(),
            function,
            data,
            Some(release),
            null_mut(),
            null_mut(),
        ))?;
        Ok(Unknown::from_raw_unchecked(env.raw(), function))
    }
}

/// # Safety
/// Node-API calls this with the data of a [`function`], which is called no longer.
#[allow(unsafe_code)]
unsafe extern "C" fn release(_env: napi_env, data: *mut c_void, _hint: *mut c_void) {
    // SAFETY: the share that `function` has made, on the thread of the realm.
    drop(unsafe { Rc::from_raw(data.cast::<RefCell<Exchange>>()) });
}

/// `submit(requests: Uint8Array, length: number, isPolling: boolean): void`
///
/// # Safety
/// Node-API calls this as the callback of a [`function`].
#[allow(unsafe_code)]
unsafe extern "C" fn submit(env: napi_env, info: napi_callback_info) -> napi_value {
    // SAFETY: the promise of this function is the one that is asked for.
    unsafe {
        call(
            env,
            info,
            |exchange, [requests, length, is_polling]: [napi_value; 3]| {
                let (mut bytes, mut available) = (null_mut(), 0);
                check_status!(sys::napi_get_buffer_info(
                    env,
                    requests,
                    &mut bytes,
                    &mut available
                ))?;
                let length = (number(env, length)? as usize).min(available);
                // SAFETY: so many bytes are there, unless it is empty; JavaScript does not run while this does.
                let requests = match length {
                    0 => &[],
                    length => slice::from_raw_parts(bytes.cast::<u8>(), length),
                };
                exchange.submit(Env::from_raw(env), requests, boolean(env, is_polling)?)?;
                Ok(null_mut())
            },
        )
    }
}

/// `drain(isPolling: boolean): number`
///
/// # Safety
/// Node-API calls this as the callback of a [`function`].
#[allow(unsafe_code)]
unsafe extern "C" fn drain(env: napi_env, info: napi_callback_info) -> napi_value {
    // SAFETY: the promise of this function is the one that is asked for.
    unsafe {
        call(env, info, |exchange, [is_polling]: [napi_value; 1]| {
            let length = exchange.drain(Env::from_raw(env), boolean(env, is_polling)?)?;
            let mut result = null_mut();
            check_status!(sys::napi_create_uint32(env, length, &mut result))?;
            Ok(result)
        })
    }
}

/// Calls `work` with the exchange and the arguments of the function. An error, and a panic, is thrown in JavaScript.
///
/// # Safety
/// For the callback of a [`function`], with what Node-API has given it.
#[allow(unsafe_code)]
unsafe fn call<const N: usize>(
    env: napi_env,
    info: napi_callback_info,
    work: impl FnOnce(&mut Exchange, [napi_value; N]) -> napi::Result<napi_value>,
) -> napi_value {
    let (mut count, mut arguments, mut data) = (N, [null_mut(); N], null_mut());
    let run = || {
        // SAFETY: there is room for N arguments; Node-API fills the rest with `undefined`.
        check_status!(unsafe {
            sys::napi_get_cb_info(
                env,
                info,
                &mut count,
                arguments.as_mut_ptr(),
                null_mut(),
                &mut data,
            )
        })?;
        // SAFETY: the share of the function lives while it is called.
        let exchange = unsafe { &*data.cast::<RefCell<Exchange>>() };
        work(&mut exchange.borrow_mut(), arguments)
    };
    let done = catch_unwind(AssertUnwindSafe(run));
    match done.unwrap_or_else(|_| Err(napi::Error::from_reason("a native call of resqlite panicked"))) {
        Ok(value) => value,
        Err(error) => {
            // SAFETY: the environment is open, and no other error is pending: none of the calls above runs JavaScript.
            unsafe { JsError::from(error).throw_into(env) };
            null_mut()
        }
    }
}

/// # Safety
/// The value is one of this environment.
#[allow(unsafe_code)]
unsafe fn number(env: napi_env, value: napi_value) -> napi::Result<u32> {
    let mut number = 0;
    // SAFETY: as promised.
    check_status!(unsafe { sys::napi_get_value_uint32(env, value, &mut number) })?;
    Ok(number)
}

/// # Safety
/// As [`number`].
#[allow(unsafe_code)]
unsafe fn boolean(env: napi_env, value: napi_value) -> napi::Result<bool> {
    let mut boolean = false;
    // SAFETY: as promised.
    check_status!(unsafe { sys::napi_get_value_bool(env, value, &mut boolean) })?;
    Ok(boolean)
}
