// docs/examples.md and its pictures, made from the sample flows: what each says of itself, and how it looks.
import { dashboards, databases, type Sample, samples, simulated, titleOf } from '../examples/canvas.ts';
import { pictureOf } from './flow-picture.ts';

export const PAGE = 'docs/examples.md';
export const PICTURES = 'docs/images/examples';

const HEAD = `# Examples

<!-- made by npm run docs from the sample flows -->

In Node-RED: menu → *Import* → *Examples*, in the folder with the name of the package. Click *Import*, then *Deploy*. Each says on its flow where its effect shows, and has a comment on what a deploy, a restart or a refusal does to it where that is not plain.

All use one service, *Service in a box*, which is the one that \`npm start\` and the simulator run: with them every example works as it is. For your own service open this node once and enter addresses and login; when Node-RED asks at the second example, choose *Import copy*. What else you may want to change stands below.`;

/** Sorted: a folder is read in no order that holds everywhere. */
const sorted = (list: readonly Sample[]): Sample[] =>
  [...list].sort((one, other) => (one.label < other.label ? -1 : 1));

interface Part {
  title: string;
  text: string;
  samples: Sample[];
}

const PARTS: readonly Part[] = [
  {
    title: 'With the nodes of this package and of Node-RED',
    text: 'Nothing else has to be installed.',
    samples: sorted(samples),
  },
  {
    title: 'With FlowFuse Dashboard',
    text: 'Needs `@flowfuse/node-red-dashboard`, from the palette manager; the demo brings it along. What visitors may do is in [Security](security.md#the-dashboard-sample).',
    samples: sorted(dashboards),
  },
  {
    title: 'With PostgreSQL',
    text: 'Needs `node-red-contrib-postgresql`, from the palette manager, or another PostgreSQL node in its place that takes values for `$1` from `msg.params`: the flow has one node that stores, *Insert*, and one that makes the table. The tests of this package store into a real PostgreSQL, through that package where it is installed beside this one, else through `node-red-contrib-postgrestor-next`.',
    samples: sorted(databases),
  },
  {
    title: 'With the simulator',
    text: 'They come with [`@mt-gateway/node-red-mt-simulator`](../simulator/README.md), and are in the folder of that name.',
    samples: sorted(simulated),
  },
];

const slug = (label: string): string =>
  label
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-');

/** Its four sentences: what it does, where that shows, what to change, and where the service is. */
function sentencesOf({ flow }: Sample): string[] {
  // What stands in the comment is text: nothing of it is Markdown.
  const text = String(titleOf(flow).info).replace(/[*_<>[\]`|\\]/g, '\\$&');
  return text.split(/(?<=[.])\s+/);
}

function rowOf(sample: Sample): string {
  return `| [${sample.label}](#${slug(sample.label)}) | ${sentencesOf(sample)[0]} |`;
}

function sectionOf(sample: Sample): string {
  const [does = '', shows = '', change = ''] = sentencesOf(sample);
  const picture = `images/examples/${slug(sample.label)}.svg`;
  return [
    `### ${sample.label}`,
    does,
    `- **Shows:** ${shows}\n- **Change:** ${change}`,
    `![The flow ${sample.label}](${picture})`,
  ].join('\n\n');
}

const table = (part: Part): string =>
  [
    `## ${part.title}`,
    part.text,
    ['| example | what it does |', '|---|---|', ...part.samples.map(rowOf)].join('\n'),
  ].join('\n\n');

/** The whole page. */
export function examplesPage(): string {
  const parts = PARTS.map((part) => [table(part), ...part.samples.map(sectionOf)].join('\n\n'));
  return `${[HEAD, ...parts].join('\n\n')}\n`;
}

/** The pictures by their paths. */
export function examplePictures(): Map<string, string> {
  const all = PARTS.flatMap((part) => part.samples);
  return new Map(all.map(({ label, flow }) => [`${PICTURES}/${slug(label)}.svg`, pictureOf(flow)]));
}
