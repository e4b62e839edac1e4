// The rules, each a setting with a list of channels.
import { m } from '../../../paraglide/messages.js';
import { channelName } from '../../channels/names';

export const RULES = [
  { key: 'notify.delivery_failed', title: m.notifications_failed, text: m.notifications_failed_text },
  { key: 'notify.webhook_refuses', title: m.notifications_refuses, text: m.notifications_refuses_text },
  { key: 'notify.budget_warning', title: m.notifications_budget, text: m.notifications_budget_text },
  { key: 'notify.health', title: m.notifications_health, text: m.notifications_health_text },
  { key: 'approvals.notify', title: m.notifications_approval, text: m.notifications_approval_text },
] as const;

interface Channel {
  id: string;
  type: string;
  label: string;
  enabled: boolean;
}

export interface Target {
  /** The target as in the setting: `type`, or `type:id`. */
  target: string;
  label: string;
  chosen: boolean;
  /** The channel was deleted. */
  gone: boolean;
}

const targetOf = ({ id, type }: Channel): string => (id === type ? type : `${type}:${id}`);

/** If a channel's ID is its type, the channel has two names. */
const namesOf = (channel: Channel): string[] => [targetOf(channel), `${channel.type}:${channel.id}`];

/** Returns the channels, and targets of the setting without a channel. */
export function targetsOf(channels: readonly Channel[], stored: readonly string[]): Target[] {
  const known = channels.map((channel) => ({
    target: namesOf(channel).find((name) => stored.includes(name)) ?? targetOf(channel),
    label: channelName(channel),
    chosen: namesOf(channel).some((name) => stored.includes(name)),
    gone: false,
  }));
  const names = new Set(channels.flatMap(namesOf));
  const gone = [...new Set(stored)].filter((target) => !names.has(target));
  return [...known, ...gone.map((target) => ({ target, label: target, chosen: true, gone: true }))];
}

/** The setting after a change of one target. */
export const changed = (stored: readonly string[], target: string, chosen: boolean): string[] =>
  chosen ? [...stored.filter((one) => one !== target), target] : stored.filter((one) => one !== target);
