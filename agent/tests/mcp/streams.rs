//! Pipes, socketpairs and files as standard streams.

#![cfg(unix)]

use std::fs::File;
use std::io::{Seek, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as Socket;
use std::time::Duration;

use openadapt_agent::mcp::{Ended, Wire};
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::time::timeout;

use crate::world::{Client, call, initialize, request};

fn over_pipes() -> Client {
    let (server_in, client_out) = std::io::pipe().expect("a pipe");
    let (client_in, server_out) = std::io::pipe().expect("a pipe");
    let wire = Wire::from_fds(server_in.into(), server_out.into()).expect("a wire");
    let input = Sender::from_owned_fd(client_out.into()).expect("a pipe");
    Client::over(wire, input, Receiver::from_owned_fd(client_in.into()).expect("a pipe"))
}

/// As node starts its children.
fn over_sockets() -> Client {
    let near = |far: &mut Option<OwnedFd>| {
        let (near, other) = Socket::pair().expect("a socketpair");
        *far = Some(other.into());
        near.set_nonblocking(true).expect("a flag");
        UnixStream::from_std(near).expect("a socket")
    };
    let (mut server_in, mut server_out) = (None, None);
    let (input, output) = (near(&mut server_in), near(&mut server_out));
    let wire = Wire::from_fds(server_in.expect("an end"), server_out.expect("an end")).expect("a wire");
    Client::over(wire, input, output)
}

#[tokio::test]
async fn pipes_and_socketpairs_serve_alike() {
    for mut client in [over_pipes(), over_sockets()] {
        client.initialize("2025-11-25", json!({})).await;
        let answer = client.ask(&call(1, "big", json!({ "bytes": 3_000_000 }))).await;
        assert_eq!(answer["id"], 1);
        client.send(&call(2, "echo", json!({}))).await;
        client.end_input();
        assert_eq!(client.receive().await["id"], 2);
        assert_eq!(client.receive_or_end().await, None);
        assert_eq!(client.ended().await, Ended::Eof);
    }
}

#[tokio::test]
async fn serving_is_over_only_when_the_thread_behind_a_socket_has_passed_on_everything() {
    let mut client = over_sockets();
    client.initialize("2025-11-25", json!({})).await;
    // More than the socket takes unread, less than the socket, the thread and its pipe take together.
    client.send(&call(1, "big", json!({ "bytes": 260_000 }))).await;
    client.end_input();
    assert!(timeout(Duration::from_millis(150), &mut client.served).await.is_err(), "over with bytes still inside");
    assert_eq!(client.receive().await["id"], 1);
    assert_eq!(client.receive_or_end().await, None);
    assert_eq!(client.ended().await, Ended::Eof);
}

#[tokio::test]
async fn a_client_that_never_reads_and_leaves_is_noticed() {
    for mut client in [over_pipes(), over_sockets()] {
        client.initialize("2025-11-25", json!({})).await;
        let mut input = client.input.take().expect("input is open");
        let flood = async {
            for id in 0.. {
                input.write_all(format!("{}\n", call(id, "big", json!({ "bytes": 20_000 }))).as_bytes()).await?;
            }
            std::io::Result::Ok(())
        };
        let blocked = timeout(Duration::from_millis(700), flood).await;
        assert!(blocked.is_err(), "the server stopped reading");
        drop(input);
        let _unread = client.output.take();
        assert_eq!(client.ended().await, Ended::Eof);
    }
}

#[tokio::test]
async fn a_reader_that_disappears_ends_it_quietly_on_pipes_and_sockets() {
    for mut client in [over_pipes(), over_sockets()] {
        client.initialize("2025-11-25", json!({})).await;
        client.output = None;
        let mut input = client.input.take().expect("input is open");
        let pings = async {
            for id in 0.. {
                input.write_all(format!("{}\n", request(id, "ping", json!({}))).as_bytes()).await?;
            }
            std::io::Result::Ok(())
        };
        let _ = timeout(crate::world::DEADLINE, pings).await.expect("the server goes away");
        assert_eq!(client.ended().await, Ended::ReaderGone);
    }
}

#[tokio::test]
async fn files_serve_too() {
    let mut script = tempfile::tempfile().expect("a file");
    for message in [initialize("2025-11-25", json!({})), call(1, "echo", json!({ "a": 1 }))] {
        writeln!(script, "{message}").expect("written");
    }
    script.rewind().expect("at the start");
    let output = tempfile::NamedTempFile::new().expect("a file");
    let wire = Wire::from_fds(script.into(), File::create(output.path()).expect("a file").into()).expect("a wire");
    let client = Client::over(wire, tokio::io::sink(), tokio::io::empty());
    assert_eq!(client.ended().await, Ended::Eof);
    let answers = std::fs::read_to_string(output.path()).expect("readable");
    assert_eq!(answers.lines().count(), 2, "{answers}");
}

#[tokio::test]
async fn the_flags_of_the_descriptors_stay_as_they_were() {
    use rustix::fs::{OFlags, fcntl_getfl};
    let (server_in, _client_out) = std::io::pipe().expect("a pipe");
    let (_client_in, server_out) = std::io::pipe().expect("a pipe");
    let (socket, _other) = Socket::pair().expect("a socketpair");
    let kept = [
        server_in.try_clone().expect("a clone").into(),
        server_out.try_clone().expect("a clone").into(),
        OwnedFd::from(socket.try_clone().expect("a clone")),
    ];
    let _pipes = Wire::from_fds(server_in.into(), server_out.into()).expect("a wire");
    let _sockets = Wire::from_fds(socket.try_clone().expect("a clone").into(), socket.into()).expect("a wire");
    for fd in &kept {
        assert!(!fcntl_getfl(fd).expect("flags").contains(OFlags::NONBLOCK));
    }
}
