// Reads requests that verify an endpoint (JSON on standard input) and writes how the vendor's own library answers
// each: { status, type, body }.
import { discord, hub, slack, twitch, zoom } from './receivers.mjs';

const receivers = { discord_interactions: discord, meta: hub, slack, twitch, zoom };

let input = '';
for await (const chunk of process.stdin) input += chunk;
const answers = [];
for (const request of JSON.parse(input)) {
  answers.push(await receivers[request.profile](request));
}
process.stdout.write(JSON.stringify(answers), () => process.exit());
