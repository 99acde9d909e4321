/** The command of each operation: the compiler checks that each has one. */
import type { OperationName } from "../../../protocol/api/operationRoutes.ts";
import type { CommandSpec } from "../../cli/commandTypes.ts";
import { agentCommand, agentsCommand, renameAgentCommand, timelineCommand } from "./agentCommands.ts";
import { removeWorktreeCommand, resumeCommand, startCommand, worktreesCommand } from "./agentStartCommands.ts";
import {
  agentInterruptCommand,
  agentMessagesCommand,
  agentWaitCommand,
  answerCommand,
  cancelCommand,
  endCommand,
  messagesCommand,
  tellCommand,
} from "./agentMessageCommands.ts";
import { chooseCommand, clearCommand, interruptCommand, submitCommand } from "./deliveryCommands.ts";
import { hostsCommand } from "./hostCommands.ts";
import { lsCommand } from "./lsCommand.ts";
import { LAYOUT_COMMANDS } from "./windowCommands.ts";
import { panesCommand, serversCommand, sessionsCommand, showCommand, windowsCommand } from "./listCommands.ts";
import { notifyCommand } from "./notifyCommand.ts";
import { captureCommand, resizeCommand, sendCommand, snapshotCommand } from "./paneCommands.ts";
import { runCommand } from "./paneRunCommand.ts";
import {
  deleteRecordingCommand,
  recordingsCommand,
  startRecordingCommand,
  stopRecordingCommand,
} from "./recordingCommands.ts";
import { killCommand, newCommand } from "./sessionCommands.ts";
import { waitCommand } from "./waitCommand.ts";

/** In the order in which help lists them. */
export const OPERATION_COMMANDS: Readonly<Record<OperationName, CommandSpec>> = {
  listServers: serversCommand,
  listSessions: sessionsCommand,
  listWindows: windowsCommand,
  listPanes: panesCommand,
  tree: lsCommand,
  describePane: showCommand,
  createSession: newCommand,
  input: sendCommand,
  capture: captureCommand,
  snapshot: snapshotCommand,
  wait: waitCommand,
  run: runCommand,
  submit: submitCommand,
  choose: chooseCommand,
  interrupt: interruptCommand,
  clear: clearCommand,
  resize: resizeCommand,
  killSession: killCommand,
  startRecording: startRecordingCommand,
  listRecordings: recordingsCommand,
  stopRecording: stopRecordingCommand,
  deleteRecording: deleteRecordingCommand,
  ...LAYOUT_COMMANDS,
  listAgents: agentsCommand,
  showAgent: agentCommand,
  renameAgent: renameAgentCommand,
  startAgent: startCommand,
  resumeAgents: resumeCommand,
  listWorktrees: worktreesCommand,
  removeWorktree: removeWorktreeCommand,
  tell: tellCommand,
  listMessages: messagesCommand,
  agentMessages: agentMessagesCommand,
  cancelMessage: cancelCommand,
  waitAgent: agentWaitCommand,
  answerAgent: answerCommand,
  interruptAgent: agentInterruptCommand,
  endAgent: endCommand,
  timeline: timelineCommand,
  // One command for what concerns hosts.
  listHosts: hostsCommand,
  addHost: hostsCommand,
  showHost: hostsCommand,
  removeHost: hostsCommand,
  // And one for notifications.
  listChannels: notifyCommand,
  addChannel: notifyCommand,
  testChannel: notifyCommand,
  removeChannel: notifyCommand,
};
