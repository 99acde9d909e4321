/** The states of a guest server, what entering them does and who is told of what. */
import { beforeEach, expect, test } from "vitest";
import { GuestLife } from "../../../../../daemon/servers/guest/guestLife.ts";

let hasFallback = false;
let entered: string[] = [];
let told: string[] = [];
let life = fresh();

function fresh(): GuestLife {
  return new GuestLife({
    hasFallback: () => hasFallback,
    onEnter: (state) => entered.push(state),
    report: (state) => told.push(state),
  });
}

const fallback = (isThere: boolean): void => {
  hasFallback = isThere;
  life.clientsChanged();
};

beforeEach(() => {
  [hasFallback, entered, told] = [false, [], []];
  life = fresh();
});

test("waits, replies, falls silent, replies again and is lost", () => {
  expect([life.state, life.serverState]).toEqual(["connecting", "connecting"]);
  for (const state of ["ready", "degraded", "ready", "connecting", "closed"] as const) life.baseChanged(state);
  expect(entered).toEqual(["ready", "degraded", "ready", "connecting", "closed"]);
  expect(told).toEqual(["ready", "degraded", "ready", "connecting", "closed"]);
});

test.each(["ready", "degraded"] as const)("lost when it was %s, a fallback covers for the base", (before) => {
  life.baseChanged("ready");
  if (before === "degraded") life.baseChanged(before);
  fallback(true);
  told = [];
  life.baseChanged("connecting");
  expect([life.state, life.serverState]).toEqual(["covered", "ready"]);
  // Who was told `ready` hears nothing new.
  expect(told).toEqual(before === "ready" ? [] : ["ready"]);
  life.baseChanged("ready");
  expect([life.state, told.at(-1)]).toEqual(["ready", "ready"]);
});

test("the last fallback that goes leaves nothing to ask, and one that comes late covers", () => {
  life.baseChanged("ready");
  fallback(true);
  life.baseChanged("connecting");
  life.clientsChanged();
  expect(life.state).toBe("covered");
  fallback(false);
  expect([life.state, told.at(-1)]).toEqual(["connecting", "connecting"]);
  fallback(true);
  expect([life.state, told.at(-1)]).toEqual(["covered", "ready"]);
});

test("clients change nothing while the base is there, and nothing does after the end", () => {
  life.baseChanged("ready");
  fallback(true);
  fallback(false);
  life.baseChanged("closed");
  fallback(true);
  life.baseChanged("ready");
  expect(entered).toEqual(["ready", "closed"]);
  expect(told).toEqual(["ready", "closed"]);
});

test("streams that can be opened again are told by another `ready`, but not while nothing replies", () => {
  life.reopened();
  expect(told).toEqual([]);
  life.baseChanged("ready");
  life.reopened();
  expect(told).toEqual(["ready", "ready"]);
});
