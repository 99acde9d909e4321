/**
 * What shells and programs really print when they are typed at, byte for byte: bash 5.2, dash and Python 3.11 on a kernel
 * pty of 80 columns (24 for `bashWrapTyped`), TERM=screen-256color. Bytes are written as latin1.
 */
export interface EchoRecording {
  /** Output before the typing. */
  readonly before: string;
  readonly typed: string;
  /** Output after it, as it was read. */
  readonly output: readonly string[];
}

export const ECHO_RECORDINGS = {
  bash: {
    before: "\u001b[?2004hroot@box:~# ",
    typed: "echo DONE\r",
    output: ["echo DONE\r\n\u001b[?2004l\rDONE\r\n\u001b[?2004hroot@box:~# "],
  },
  bashMulti: {
    before: "\u001b[?2004hroot@box:~# ",
    typed: "echo one\recho two\recho DONE\r",
    output: [
      "echo one\r\n\u001b[?2004l\rone\r\n\u001b[?2004hroot@box:~# echo two\r\n\u001b[?2004l\rtwo\r\n\u001b[?2004hroot@box:~# echo DONE\r\n\u001b[?2004l\rDONE\r\n\u001b[?2004hroot@box:~# ",
    ],
  },
  bashAhead: {
    before: "",
    typed: "echo DONE\r",
    output: ["echo DONE\r\n\u001b[?2004hroot@box:~# echo DONE\r\n\u001b[?2004l\rDONE\r\n\u001b[?2004hroot@box:~# "],
  },
  bashBusy: {
    before: "\u001b[?2004hroot@box:~# sleep 0.4\r\n\u001b[?2004l\r",
    typed: "echo DONE\r",
    output: ["echo DONE\r\n\u001b[?2004hroot@box:~# echo DONE\r\n\u001b[?2004l\rDONE\r\n\u001b[?2004hroot@box:~# "],
  },
  bashPaste: {
    before: "\u001b[?2004hroot@box:~# ",
    typed: "\u001b[200~echo one\necho DONE\u001b[201~\r",
    output: [
      "\u001b[3mecho one\u001b[23m\r\n\r\u001b[3mecho DONE\u001b[23m",
      "\u001bM\u001b[C\u001b[C\u001b[Cecho one\r\n\recho DONE\r\n\u001b[?2004l\rone\r\nDONE\r\n\u001b[?2004hroot@box:~# ",
    ],
  },
  bashUtf8: {
    before: "\u001b[?2004hroot@box:~# ",
    typed: "echo za\u00c5\u00bc\u00c3\u00b3\u00c5\u0082\u00c4\u0087 DONE\r",
    output: [
      "echo za\u00c5\u00bc\u00c3\u00b3\u00c5\u0082\u00c4\u0087 DONE\r\n\u001b[?2004l\rza\u00c5\u00bc\u00c3\u00b3\u00c5\u0082\u00c4\u0087 DONE\r\n\u001b[?2004hroot@box:~# ",
    ],
  },
  bashColor: {
    before: "\u001b[?2004h\u001b[1;32mroot@box\u001b[0m:\u001b[1;34m~\u001b[0m# ",
    typed: "echo DONE\r",
    output: ["echo DONE\r\n\u001b[?2004l\rDONE\r\n\u001b[?2004h\u001b[1;32mroot@box\u001b[0m:\u001b[1;34m~\u001b[0m# "],
  },
  bashSetX: {
    before: "\u001b[?2004hroot@box:~# set -x\r\n\u001b[?2004l\r\u001b[?2004hroot@box:~# ",
    typed: "echo DONE\r",
    output: ["echo DONE\r\n\u001b[?2004l\r+ echo DONE\r\nDONE\r\n\u001b[?2004hroot@box:~# "],
  },
  bashSlowChars: {
    before: "\u001b[?2004hroot@box:~# ",
    typed: "echo DONE\r",
    output: ["ec", "ho DO", "NE", "\r\n\u001b[?2004l\rDONE\r\n\u001b[?2004hroot@box:~# "],
  },
  bashWrapTyped: {
    before: "\u001b[?2004hroot@box:~# ",
    typed: "echo 0123456789 DONE with a tail\r",
    output: [
      "e",
      "c",
      "h",
      "o",
      " ",
      "0",
      "1",
      "2",
      "3",
      "4",
      "5",
      "6 \r",
      "7",
      "8",
      "9",
      " ",
      "D",
      "O",
      "N",
      "E",
      " ",
      "w",
      "i",
      "t",
      "h",
      " ",
      "a",
      " ",
      "t",
      "a",
      "i",
      "l",
      "\r\n\u001b[?2004l\r0123456789 DONE with a tail\r\n\u001b[?2004hroot@box:~# ",
    ],
  },
  bashBackspaceTyped: {
    before: "\u001b[?2004hroot@box:~# ",
    typed: "echo DONX\x7fE\r",
    output: ["echo DONX", "\b\u001b[K", "E", "\r\n\u001b[?2004l\rDONE\r\n\u001b[?2004hroot@box:~# "],
  },
  bashDelayed: {
    before: "\u001b[?2004hroot@box:~# ^C\u001b[?2004l\r\u001b[?2004h\u001b[?2004l\r\r\n\u001b[?2004hroot@box:~# ",
    typed: "echo DONE\r",
    output: ["echo DONE\r\n\u001b[?2004l\rDONE\r\n\u001b[?2004hroot@box:~# "],
  },
  dash: { before: "\\u@box:\\w$ ", typed: "echo DONE\r", output: ["echo DONE\r\nDONE\r\n\\u@box:\\w$ "] },
  dashMulti: {
    before: "\\u@box:\\w$ ",
    typed: "echo one\recho DONE\r",
    output: ["echo one\r\necho DONE\r\none\r\n\\u@box:\\w$ DONE\r\n\\u@box:\\w$ "],
  },
  cat: { before: "", typed: "hello\r", output: ["hello\r\nhello\r\n"] },
  catMulti: { before: "", typed: "a\rb\rc\r", output: ["a\r\nb\r\nc\r\na\r\nb\r\nc\r\n"] },
  catNoEcho: { before: "", typed: "hello\r", output: ["hello\r\n"] },
  read: { before: "name? ", typed: "bob\r", output: ["bob\r\ngot bob DONE\r\n"] },
  readSilent: { before: "password: ", typed: "secret\r", output: ["\r\nsecret ok\r\n"] },
  readOne: { before: "Continue? [y/N] ", typed: "y", output: ["y\r\nyes it is y\r\n"] },
  readOneSilent: { before: "Continue? ", typed: "q", output: ["quit now\r\n"] },
  sudoLike: { before: "Proceed? ", typed: "y\r", output: ["\r\nyes, proceeding\r\n"] },
  bc: { before: "\u001b[?2004hcalc> ", typed: "2+2\r", output: ["2+2\r\n\u001b[?2004l\r= 4\r\n\u001b[?2004hcalc> "] },
  python: { before: ">>> ", typed: "print('DO'+'NE')\r", output: ["print('DO'+'NE')\r\nDONE\r\n>>> "] },
} as const satisfies Readonly<Record<string, EchoRecording>>;
