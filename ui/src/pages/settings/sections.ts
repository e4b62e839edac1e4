// The sections of the settings.
import type { Component } from 'svelte';
import Bell from '@lucide/svelte/icons/bell';
import Bot from '@lucide/svelte/icons/bot';
import Braces from '@lucide/svelte/icons/braces';
import Brain from '@lucide/svelte/icons/brain';
import ChartColumn from '@lucide/svelte/icons/chart-column';
import FileKey from '@lucide/svelte/icons/file-key';
import Info from '@lucide/svelte/icons/info';
import Mic from '@lucide/svelte/icons/mic';
import Send from '@lucide/svelte/icons/send';
import ShieldCheck from '@lucide/svelte/icons/shield-check';
import Vault from '@lucide/svelte/icons/vault';
import Webhook from '@lucide/svelte/icons/webhook';
import { m } from '../../paraglide/messages.js';
import type { PageComponent } from '../../shell/routes';

export interface Section {
  path: string;
  label: () => string;
  icon: Component<{ size?: number; 'aria-hidden'?: boolean | 'true' | 'false' }>;
  load: () => Promise<{ default: PageComponent }>;
  /** Only in gateways built with voice support. */
  voice?: true;
}

export const SECTIONS: readonly Section[] = [
  { path: 'security', label: m.settings_security, icon: ShieldCheck, load: () => import('./security/Security.svelte') },
  { path: 'vault', label: m.settings_vault, icon: Vault, load: () => import('./vault/Vault.svelte') },
  {
    path: 'environment',
    label: m.settings_environment,
    icon: Braces,
    load: () => import('./environment/Environment.svelte'),
  },
  { path: 'ssh-keys', label: m.settings_ssh_keys, icon: FileKey, load: () => import('./ssh-keys/SshKeys.svelte') },
  { path: 'webhooks', label: m.settings_webhooks, icon: Webhook, load: () => import('./webhooks/Webhooks.svelte') },
  { path: 'voice', label: m.settings_voice, icon: Mic, load: () => import('./voice/Voice.svelte'), voice: true },
  { path: 'providers', label: m.settings_providers, icon: Brain, load: () => import('./providers/Providers.svelte') },
  { path: 'usage', label: m.settings_usage, icon: ChartColumn, load: () => import('./usage/Usage.svelte') },
  { path: 'agents', label: m.settings_agents, icon: Bot, load: () => import('./agents/Agents.svelte') },
  { path: 'channels', label: m.settings_channels, icon: Send, load: () => import('./channels/Channels.svelte') },
  { path: 'inbox', label: m.settings_inbox, icon: Bell, load: () => import('./inbox/Inbox.svelte') },
  { path: 'about', label: m.settings_about, icon: Info, load: () => import('./about/About.svelte') },
];
