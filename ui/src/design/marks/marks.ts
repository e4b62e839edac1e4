// Logos of vendors, as paths of simple-icons in a box of 24 by 24. Vendors that forbid the use of their logo (OpenAI,
// Slack, Twilio) and unknown vendors have none. The logos of vendors that send webhooks are in `SENDERS`.
import anthropic from 'simple-icons/icons/anthropic.svg?path';
import deepgram from 'simple-icons/icons/deepgram.svg?path';
import discord from 'simple-icons/icons/discord.svg?path';
import elevenlabs from 'simple-icons/icons/elevenlabs.svg?path';
import google from 'simple-icons/icons/google.svg?path';
import matrix from 'simple-icons/icons/matrix.svg?path';
import mistral from 'simple-icons/icons/mistralai.svg?path';
import ntfy from 'simple-icons/icons/ntfy.svg?path';
import ollama from 'simple-icons/icons/ollama.svg?path';
import openrouter from 'simple-icons/icons/openrouter.svg?path';
import telegram from 'simple-icons/icons/telegram.svg?path';
import { SENDERS } from './senders';

interface Vendor {
  name: string;
  path: string;
}

const VENDORS: readonly Vendor[] = [
  { name: 'Anthropic', path: anthropic },
  { name: 'Deepgram', path: deepgram },
  { name: 'Discord', path: discord },
  { name: 'ElevenLabs', path: elevenlabs },
  { name: 'Google', path: google },
  { name: 'Matrix', path: matrix },
  { name: 'Mistral', path: mistral },
  { name: 'ntfy', path: ntfy },
  { name: 'Ollama', path: ollama },
  { name: 'OpenRouter', path: openrouter },
  { name: 'Telegram', path: telegram },
];

/**
 * Returns the vendor for an ID or display name of a profile, channel type or provider, or null if the vendor has no
 * logo.
 */
export function vendorOf(named: string): Vendor | null {
  const sender = Object.hasOwn(SENDERS, named) ? SENDERS[named] : undefined;
  if (sender) return { name: named, path: sender };
  const words = named.toLowerCase().split(/[^a-z]+/);
  return VENDORS.find(({ name }) => name === named || words.includes(name.toLowerCase())) ?? null;
}

export const ALL: readonly string[] = [...VENDORS.map(({ name }) => name), ...Object.keys(SENDERS)];
