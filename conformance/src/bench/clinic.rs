//! The clinic's figures: a read and a save, each over one connection that stays open, beside a bare echo over such a connection.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use super::figures::{Table, measured};
use super::world::World;
use crate::run::clinic::Clinic;

const REQUESTS: usize = 2000;
const CONNECTIONS: usize = 4;
const PATIENCE: Duration = Duration::from_secs(10);

pub fn measure(world: &World, table: &mut Table, say: impl Fn(&str)) -> io::Result<()> {
    say("asking the clinic");
    let mut bare = Connection::open(&echo()?)?;
    let echoed = measured(REQUESTS, |_| bare.echo())?;
    table.baseline("a bare echo over a loopback connection", &echoed);
    let clinic = Clinic::start(&world.clinic_journal(), false)?;
    let host = clinic.url.trim_start_matches("http://").to_owned();
    let mut connection = Connection::open(&host)?;
    let read = measured(REQUESTS, |_| connection.ask("GET", "/api/db", ""))?;
    table.row("MockMed: a read of its empty store", &read, &echoed);
    let saved = measured(REQUESTS, |number| connection.ask("POST", "/api/encounter?fault=ok", &encounter(number)))?;
    table.row("MockMed: a save with its synced journal", &saved, &echoed);
    connection.ask("POST", "/api/reset", "")?;
    let each_second = together(&host)?;
    table.count(&format!("MockMed: reads each second over {CONNECTIONS} connections"), each_second);
    Ok(())
}

fn encounter(number: usize) -> String {
    format!(r#"{{"patient_id":"p1","note":"note {number}"}}"#)
}

/// How many reads a second are answered when several ask at once.
fn together(host: &str) -> io::Result<usize> {
    let began = Instant::now();
    let asking: Vec<_> = (0..CONNECTIONS)
        .map(|_| {
            let host = host.to_owned();
            thread::spawn(move || {
                let mut connection = Connection::open(&host)?;
                (0..REQUESTS).try_for_each(|_| connection.ask("GET", "/api/db", ""))
            })
        })
        .collect();
    for one in asking {
        one.join().map_err(|_| io::Error::other("a thread was lost"))??;
    }
    Ok(((REQUESTS * CONNECTIONS) as f64 / began.elapsed().as_secs_f64()) as usize)
}

struct Connection {
    host: String,
    reader: BufReader<TcpStream>,
}

impl Connection {
    fn open(host: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(host)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Self { host: host.to_owned(), reader: BufReader::new(stream) })
    }

    fn echo(&mut self) -> io::Result<()> {
        self.reader.get_mut().write_all(b"a line\n")?;
        self.reader.read_line(&mut String::new()).map(drop)
    }

    /// One request, whose answer must be a good one.
    fn ask(&mut self, method: &str, path: &str, body: &str) -> io::Result<()> {
        let (host, length) = (&self.host, body.len());
        let request = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n\r\n{body}");
        self.reader.get_mut().write_all(request.as_bytes())?;
        let (mut status, mut rest) = (String::new(), 0);
        self.reader.read_line(&mut status)?;
        loop {
            let mut line = String::new();
            self.reader.read_line(&mut line)?;
            let line = line.trim().to_ascii_lowercase();
            match line.strip_prefix("content-length:") {
                Some(text) => rest = text.trim().parse().map_err(io::Error::other)?,
                None if line.is_empty() => break,
                None => {}
            }
        }
        io::copy(&mut self.reader.by_ref().take(rest), &mut io::sink())?;
        match status.split(' ').nth(1) {
            Some("200") => Ok(()),
            _ => Err(io::Error::other(format!("the clinic answered {status:?}"))),
        }
    }
}

/// Where every line comes back as it was sent.
fn echo() -> io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?.to_string();
    thread::spawn(move || -> io::Result<()> {
        let (stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        while reader.read_line(&mut line)? > 0 {
            reader.get_mut().write_all(line.as_bytes())?;
            line.clear();
        }
        Ok(())
    });
    Ok(address)
}
