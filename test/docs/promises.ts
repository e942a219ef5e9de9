// Which test holds what docs/lifecycle.md says, sentence by sentence; `promises.test.ts` compares both.

/**
 * The tests, by file (`mqtt/plan` is `test/reports/topic-filters.test.ts`). A title is written as mocha shows it; `…` stands for
 * anything in a part that the test fills in.
 */
export type Holders = Readonly<Record<string, string | readonly string[]>>;

/** Why a sentence promises nothing that a test could hold. */
export type Reason =
  | 'explains'
  | 'advice to the user'
  | 'about the broker'
  | 'about MQTT'
  | 'about gateways and devices'
  | 'about Node-RED';

/** By heading, then by sentence or row of a table, in the order of the page. */
export const PROMISES: Readonly<Record<string, Readonly<Record<string, Holders | Reason>>>> = {
  Lifecycle: {
    'What is alive when, what each status means, what is lost under which setting, and what is not.':
      'explains',
    'This page is a promise: where the package behaves otherwise, that is a bug.': {
      'docs/promises': 'names a test for everything that it says',
    },
    "Settings are named as in the panel, with the property's name behind.": {
      'docs/promises': 'names settings as the panels and the flows do',
    },
  },
  'What is alive when': {
    'the service (config node) | with the deploy | with the deploy that removes or restarts it': {
      'nodes/lifecycle':
        'has one connection for all of its nodes, and another one after a deploy that restarts it',
      'nodes/service': 'leaves the broker when it is closed',
    },
    'connection to the broker | when the first node that needs it is deployed: *report in*, *read*, *write*, *ack report* | 1 second after the last of them has gone, but not before the flows of a deploy run; or with the service':
      {
        'nodes/lifecycle': [
          'connects to the broker when … is deployed, and asks nothing over REST',
          'does not connect to the broker for nodes that only need REST, and logs in with the first call',
        ],
        'mqtt/waits': [
          'are 1 second between the last user of the connection and its end',
          'are for the last user of the connection until the flows of a deploy run, and not for ever',
        ],
        'nodes/service': 'leaves the broker when it is closed',
      },
    'subscription to reports | when a *report in* node wants them | when no node wants them any more': {
      'reports/topic-filters': 'subscribes only to heartbeats when only heartbeats are wanted',
      'mqtt/connection': 'drops subscriptions of an earlier deploy that nobody wants any more',
    },
    'subscription to the responses of a gateway | with the first request to this gateway | with the service, and with the connection; after an hour without a request; where the broker has no room for that of another gateway, the one whose requests ended longest ago; beyond 10 000 gateways those that have nothing to do are given back':
      {
        'mqtt/asked-gateways': 'is given back after an hour without a request, and that of others is kept',
        'mqtt/idle-places': [
          'and … takes that of the gateway whose requests ended longest ago',
          'takes none of a gateway that is being asked, and says why there is none',
        ],
        'mqtt/losses': 'to the responses of a gateway begin with the first request to it',
        'mqtt/closing': 'does not leave the subscriptions to responses in a session that the broker keeps',
        'mqtt/waiting': 'may go to any number of gateways: of 10 000 one that has nothing to do is forgotten',
      },
    'REST token | with the first REST call, not with the deploy | 60 seconds before its end, or a fifth of its life if that is less; the next call logs in again':
      {
        'nodes/lifecycle':
          'does not connect to the broker for nodes that only need REST, and logs in with the first call',
        'rest/auth': 'of … s is renewed … s before its end',
      },
    'list of devices, for pickers, labels and names | with the first question, or for names a second after the first node of the MQTT half; kept 60 seconds for pickers; fetched anew after a rename, a label or a free request other than GET, also when only its response was lost; for the sidebar alone, fetching takes a twentieth of the time at most, while changes go on half of it | with the removal of the service, with other addresses or another user, and with another broker or topic prefix; it is kept over a deploy':
      {
        'rest/device-directory': [
          'asks nobody before the first question',
          'fetches the list once for all who wait, and keeps it for a minute',
          'fetches it half of the time at most while changes go on, and once more after the last one',
        ],
        'rest/name-refresh': 'are fetched a second after the first use, and every ten minutes',
        'nodes/report-in':
          'knows its labels after a deploy of all nodes, also while the service cannot be asked',
        'rest/changes': [
          'is fetched anew after: …',
          'is fetched anew when the response to it was lost: …',
          'is kept after a free GET, and after what was never sent',
        ],
      },
    'what reports have shown (devices, gateways, properties) | with the first report that a node receives | with the removal of the service, or with another broker or topic prefix; it is kept over a deploy, and not stored':
      {
        session: 'knows what reports have shown, for pickers',
        'nodes/lifecycle':
          'keeps over a deploy what reports have shown, whatever session it has at the broker, and forgets it with another broker or topic prefix',
      },
    'a recording of all reports (*Record* in the sidebar) | when somebody begins it there | after ten minutes or 20 MB, or 90 seconds after the last editor that looks has gone; it goes on over a deploy, without what comes while none of both services is connected; what was kept can be saved for ten minutes after the end, and is given up with the removal of the service, or with another broker or topic prefix':
      {
        'reports/recording': [
          'ends after ten minutes, says so, and can be fetched for ten minutes more',
          'ends before the report with which it would have more than 20 MB, and says so',
          'ends when nobody has asked for its state for 90 seconds, and keeps what it has',
        ],
        'nodes/record': [
          'goes on over a deploy of the service, and what was kept can be saved after the next one',
          'is given up with its network, and with its service',
        ],
      },
    'A setting of one half that is wrong stops the nodes that need this half, and goes to the Catch nodes once; the other half works.':
      {
        'nodes/service': 'works with its other half when the … has a mistake in …, and tells it once',
      },
    'Nodes with labels wait then as for the first list of devices, and what was known of devices comes back with the half.':
      {
        'nodes/confirm':
          'is kept by the broker for a node with labels while the settings of the portal are wrong',
        'nodes/value-memory': 'keeps the list of devices while the settings of the portal are wrong',
      },
    'While the MQTT half is wrong, what the broker keeps for the service, what is known of the network and what watches have told stay as they are; the deploy that corrects it, or that deletes or disables the service, does what it would have done just after the settings before the mistake.':
      {
        'nodes/last-usable': [
          '… keeps its subscriptions and what waits for them until it is right again',
          '… gives its subscriptions back when a deploy deletes it',
          '… knows and has told what it had when it is right again',
          'its topic prefix gives its subscriptions back when a deploy …',
          'gives its subscriptions back when a deploy deletes the instance',
          'a variable of its user name, and with another client id, keeps its subscriptions until it is right again',
          'its TLS settings, which are disabled, and with another client id, keeps its subscriptions',
          'its TLS settings gives its subscriptions back when a deploy takes its broker address away',
          'its topic prefix has forgotten everything when it is right again for another network',
        ],
      },
    'The same holds while the variables of the broker address bring none.': {
      'nodes/last-usable': [
        'knows what it had when it is right again',
        'gives its subscriptions back when a deploy deletes it',
      ],
    },
    'What is wrong inside the nodes of `tls` and `proxy`, as a file that cannot be read, shows only when they have started: what the same deploy changes of the address, the topic prefix or the client id counts at once then.':
      {
        'nodes/last-usable':
          'its TLS settings, of which a file cannot be read, gives its subscriptions back for another client id',
      },
    'Where another service has the same session at the broker by then, by address and client id and with `persistent`, that stays as it is.':
      {
        'nodes/last-usable': [
          'its topic prefix leaves the session to another service with its client id when a deploy …',
          'leaves it alone when a deploy …',
        ],
        'nodes/kept-session':
          'gives back its subscriptions when a deploy deletes it, though a copy … it has the client id without keeping anything',
      },
    'Inside a subflow, another instance that a deploy puts in the place of one that is wrong goes on with its session, where both have the same client id.':
      {
        'nodes/last-usable': [
          'keeps its subscriptions over a deploy that puts another instance in its place',
          'gives its subscriptions back when a deploy deletes the other instance that was put in its place',
          'gives its subscriptions back when the other instance in its place has a client id of its own',
        ],
      },
    '`tls`, `proxy` and `identifiers` are of both.': {
      'nodes/service': 'hands a mistake in its settings to Catch nodes, and its users refuse to work',
      'nodes/service-properties': 'tls names a node that must be there',
    },
    'There is one connection to the broker per service, however many nodes use it.': {
      'nodes/lifecycle':
        'has one connection for all of its nodes, and another one after a deploy that restarts it',
    },
    'A topic filter that another one covers is not subscribed.': {
      'reports/topic-filters': 'drops a filter that a wider one covers',
    },
    'Two that cross are replaced by a wider one where that is still limited to a gateway or a device.': {
      'reports/topic-filters': 'replaces two filters of one gateway that cross by all of this gateway',
    },
    'Else, as with a node for all heartbeats and a node for one gateway, both are subscribed: a wider one would bring the reports of the whole network.':
      {
        'reports/topic-filters':
          'does not ask for the whole network because one node wants a kind and another one a gateway',
      },
    'Many brokers then send a report once for each of the two; the copies, which come one right after the other with the same content, are removed, so each node gets it once.':
      {
        'mqtt/confirm-changes': [
          'come once, when one of two filters has been given back before the service is started anew',
          'come once, when a filter is given back while their copies wait at the broker behind reports of others',
        ],
        'reports/copies': [
          'get each report once from a broker that delivers …, and nothing else is subscribed',
          'are recognised from the first on where the broker sends one for each subscription',
        ],
      },
    'What comes with the same content 10 seconds later or more, and was not held up, is what its sender repeats.':
      {
        'reports/copies': [
          'is what the sender repeats, at a broker that sends once and has not shown it yet',
          'is a copy where a deploy has held it meanwhile',
          'is a copy where the broker has held it until the flow had confirmed the first',
          'is a copy where the connection was lost meanwhile',
        ],
      },
    'In a shared group the wider filter is used, because there each of two overlapping filters can have another receiver.':
      {
        'reports/copies':
          'ask for the whole network in a shared group, where every other way would double reports',
      },
    'So it is at a broker of the type NATS, which sends what waits for one subscription after the other, so that copies are not recognised there; where the wider filter is refused, both are subscribed.':
      {
        'mqtt/refused-wide': [
          'asks for the whole network in place of two that cross',
          'asks for both where the whole network is refused, and gives back neither meanwhile',
        ],
        'real-brokers/nats': 'serves two nodes that cross by a subscription each',
      },
    'While somebody asks to listen to everything (`POST mt-service/:id/listen`), what flows do not receive is subscribed over the same connection, once for all who ask, until nobody has asked for 15 seconds.':
      {
        'reports/everything':
          'is asked for once, however many look, and until nobody has asked for 15 seconds',
      },
    'No flow receives more by that.': {
      'reports/everything': 'is recorded, and reaches no flow that has not asked for it',
      'nodes/network': 'beyond what flows want, while somebody asks for it, without a report more for them',
    },
    'It is not done in a shared group.': {
      'reports/everything': 'is not asked for where a flow has it anyway, and in a shared group',
    },
    'A device that no flow hears is not silent while nobody listens to it.': {
      'network/network-state': 'while somebody looks at everything, where no flow receives its reports',
      'network/silent-devices':
        'is not silent where flows do not ask for it any more, but while people listen',
    },
    '**An open panel.** An open *report in* panel shows what would pass.': {
      'nodes/admin': 'preview the reports that unsaved settings would let through',
    },
    'It begins with what is remembered anyway: the newest report that has passed each *report in* node of the service, and what other panels show at the moment.':
      {
        'nodes/admin': [
          'preview at once what has passed a node last, read as the settings of the panel say',
          'preview at once what another panel shows',
        ],
        'reports/preview':
          'begins with what is remembered and what others show, each once and the oldest first',
      },
    'A retained report is shown once, however often the broker sends it.': {
      'reports/preview': 'shows a retained report once, though each subscription brings it again',
    },
    'What flows do not receive anyway is subscribed for it over a connection of its own, with QoS 0, until the panel has 20 reports or 1 000 messages came; then it rests for 5 seconds.':
      {
        'mqtt/preview-connection': [
          'leaves the subscriptions of flows as they are, and asks for more over a connection of its own',
          'takes a sample of a busy network and gives the subscription back',
          'takes no more of a busy network when hardly a report passes',
        ],
        'reports/preview': [
          'asks the broker for 20 reports, then rests for 5 seconds, and hears what comes anyway meanwhile',
          'rests after 1 000 messages, too, when hardly one of them passes',
        ],
      },
    'With labels these are only the gateways that carry them.': {
      'reports/label-filter': 'are what a preview asks the broker for, and not the whole network',
    },
    'Up to 16 panels at a time show reports; a further one says that these are too many.': {
      'reports/preview':
        'is refused while 16 others are looked at, and takes the place of one that nobody looks at any more',
    },
    "**The flows.** The flows' subscriptions stay as they are, what the broker keeps for flows is not touched by it, and retained reports that come for the panel are not given to flows again.":
      {
        'mqtt/preview-connection': [
          'leaves the subscriptions of flows as they are, and asks for more over a connection of its own',
          'costs no report that the broker keeps for a flow while the connection is away',
          'shows retained reports, which flows are not given again because of it',
        ],
      },
    '**A broker that refuses.** What the broker refuses for the panel is told there and nowhere else.': {
      'mqtt/preview-connection': 'is told that the broker refuses its subscription, and nobody else is',
      'nodes/lifecycle':
        'tells neither nodes nor Catch nodes nor the log what a preview has asked for and the broker refuses',
    },
    'Where the broker ends that connection or does not take it, the next attempt is after 10 seconds, doubling to 5 minutes, and what the panel asks for counts as refused until then.':
      {
        'mqtt/preview-connection': [
          'rests for 10 seconds, doubling to 5 minutes, at a broker that …; flows keep theirs',
          'is asked for again where the connection ended for another reason, and does not count as refused',
        ],
      },
    "Where the flows' connection ends twice just after that of panels was opened, there is none for panels for an hour: the broker may allow only one.":
      {
        'mqtt/preview-connection':
          'costs flows two losses, and then none for an hour, at a broker that allows one connection',
      },
    'With `persistent`, the broker is asked first, each time, whether it gives that connection the session of the flows, as one does that takes the user name for the client id: that costs the flows one interruption, after which their address is tried first, and no report, and then there is no connection for panels until the service is deployed again.':
      {
        'mqtt/preview-session': [
          'is refused, and takes nothing from what the broker keeps for flows, with MQTT …',
          'answers nothing of what the broker keeps for flows where that gives it their session',
          'leaves no session of its own at a broker that it has asked whose session it gets',
          'takes no session for that of flows which an unanswered question of its own has left',
          'makes no connection once the service is closed; the next question ends the session that it has left',
          'costs flows no long wait where the broker says that their session was taken over',
          'leaves them at theirs, which ends their connection … ms before it answers',
        ],
      },
    'The connection is closed when nobody has looked for 35 seconds.': {
      'mqtt/preview-connection':
        'leaves its connection when nobody has looked for 35 seconds, and with the service',
    },
    'A flow that wants later what the panel has asked for gets the retained reports.': {
      'mqtt/preview-connection': 'leaves the retained reports to a flow that wants the same thing later',
    },
    'When nothing is to do, no timer of this package runs but the keep-alive of the connection, and the refresh of labels where a *report in* node uses them, and of names where the service has both halves.':
      {
        'mqtt/idle':
          'has no timer but the keep-alive, two until the time of the last request is over, and one to give its subscription back',
        'rest/name-refresh': 'are not fetched before somebody uses them, nor after the last one has gone',
      },
    "After the last request at most two fire once more, when that request's time would have been over.": {
      'mqtt/idle':
        'has no timer but the keep-alive, two until the time of the last request is over, and one to give its subscription back',
    },
  },
  'The broker connection': {
    '**Open.** An attempt may take 10 seconds.': {
      'mqtt/waits': 'give up an attempt that is not answered after 10 seconds',
    },
    'With several addresses they are tried in turn, with 50 milliseconds between them; the wait comes after each round.':
      {
        'mqtt/waits': 'are 50 milliseconds between the addresses of a list, and longer after each round',
      },
    '**Proxy.** A `ws://` or `wss://` broker that is reached through a proxy is reached through a tunnel, which is part of the attempt.':
      {
        'proxy/broker': [
          'with … brings reports through a tunnel, and comes back through another one when it is lost',
          'names a proxy that never answers, before the attempt is over',
        ],
      },
    'A proxy that refuses its login is asked again after 10 seconds, doubling to 5 minutes.': {
      'proxy/broker': 'is not asked for again within 10 seconds when the proxy refuses the login',
      'mqtt/waits':
        'double from 10 seconds to 5 minutes while the login is refused, which then heals by itself',
    },
    '**Lose.** A broken connection is noticed at once, one that breaks while a report is held when that has been passed on.':
      {
        'mqtt/connection': 'is noticed to be broken when a report is passed on that was held meanwhile',
        'mqtt/waits': [
          'are not needed to notice that a connection is broken',
          'are not needed to leave a broker that says goodbye and does not end the connection',
        ],
      },
    'A broker that is silent is noticed at the latest after one and a half times *Keep alive* (`keepalive`, 60 seconds).':
      {
        'mqtt/waits': [
          'are one and a half times the keep-alive until a silent broker is left',
          'are no longer until a silent broker is left when … meanwhile',
        ],
        'nodes/service-properties': 'keepalive is what the broker hears: …',
      },
    'One over which something comes that is no MQTT packet is ended at once, so that the broker sends again what came behind it.':
      {
        'mqtt/malformed': 'is left at once, and all reports arrive over the next connection',
      },
    'Whatever the broker sends is a sign of life, and while this package itself reads nothing because a report is held, it goes on sending pings: slow flows and deploys do not cost the connection.':
      {
        'mqtt/connection': 'lives on while a report is held for longer than …',
      },
    'A broker of MQTT 5 may ask for a shorter time; then that counts, also with a *Keep alive* of 0.': {
      'mqtt/connection': [
        'lives on while a report is held for longer than …',
        'sends pings as often as the broker wants, though the settings want none',
      ],
    },
    '**Back off.** The wait before the next attempt doubles from 1 second to 60 seconds.': {
      'mqtt/waits': 'double from 1 second to 60 seconds while nobody listens',
    },
    'Up to half as much is added at random, so that many clients do not come back at the same moment.': {
      'mqtt/waits': 'are up to half as long again, by chance, and never longer than 60 seconds',
    },
    'A connection that lasted longer than 5 seconds resets the wait.': {
      'mqtt/waits': [
        'begin anew after a connection that lasted longer than 5 seconds, and not before',
        'are short after a good connection to one address, though another one refuses the login',
      ],
    },
    'After one that ends while a subscription waits for its response, the next attempt comes after 0.2 to 0.3 seconds, up to 40 times in a row.':
      {
        'mqtt/forbidding-brokers': [
          'delay the only filter by no more than a moment',
          'is one of many: they are not all looked for in a row, and yet all are found',
        ],
      },
    'Where nobody listens at the only address, the log tells the first failure after the start as information, since the broker may be starting too, and each further one as a warning.':
      {
        'mqtt/waits': [
          'are no warning at first where nobody listens yet, as while the broker starts',
          'are a warning at once where the broker was there, and where another one takes its place',
        ],
      },
    '**Refused login.** The broker is tried again after 10 seconds, then 20, and so on to 5 minutes.': {
      'mqtt/waits':
        'double from 10 seconds to 5 minutes while the login is refused, which then heals by itself',
    },
    'HTTP status 401 or 403 in place of a WebSocket is a refused login, too; any other is tried again with the waits above.':
      {
        'mqtt/reasons': 'tells what … means in place of a WebSocket',
      },
    'Further addresses of a list are tried at once all the same, and after their own waits.': {
      'mqtt/waits': [
        'are 50 milliseconds to the next address when a broker of the list refuses the login',
        'are short for an address that is away, though another one of the list refuses the login',
      ],
    },
    'It recovers without a deploy.': {
      'mqtt/waits':
        'double from 10 seconds to 5 minutes while the login is refused, which then heals by itself',
      'faults/refusals': 'refuses the login is asked again when it has changed its mind',
    },
    'The refusal goes once to each Catch node that hears errors of a node which uses the service, also from inside a subflow, and that runs when the login is refused for the first time; later the status of the nodes shows it.':
      {
        'e2e/refusals': 'reaches each Catch node once, however many nodes use the service: those …',
        'nodes/lifecycle':
          'tells Catch nodes once that the broker refuses the login, however often it is asked, and again after a connection',
      },
    '**Resubscribe.** After every connect all filters are subscribed again: 8 in the first packet, more while the broker answers, up to 200, and fewer where it ends the connection at that.':
      {
        'mqtt/losses':
          'are made again after every connect, in packets that grow to 200 while the broker answers',
        'mqtt/packet-sizes': 'go out fewer at a time when the broker takes fewer than it did before',
      },
    'When the filters change, the new ones are subscribed before the old ones are given back, so that no report falls between.':
      {
        'mqtt/losses': 'are made before others are given back when the filters change',
      },
    '**Refused subscription.** The other subscriptions work on.': {
      'mqtt/waits':
        'double from 10 seconds to 5 minutes while subscriptions are refused, and the others work on',
      'mqtt/refused-wide': 'lets the narrow one work on, where it …, also over …',
    },
    'What a refused one covers is subscribed for itself, until that one is granted; in a shared group, of two that cross only the one that works already.':
      {
        'mqtt/refused-wide': [
          'asks for the wide one again, and takes it in place of the narrow one when it is granted',
          'asks for both where what would take the place of two is refused, and shows no refusal',
          'lets the one that works go on in a shared group, where two must not overlap',
        ],
      },
    'All that are refused are tried again together after 10 seconds, doubling to 5 minutes with each time.': {
      'mqtt/subscriptions':
        'that are refused are tried again together, and the wait grows once for each time',
      'mqtt/waits':
        'double from 10 seconds to 5 minutes while subscriptions are refused, and the others work on',
    },
    'The refusal goes once to the Catch nodes, however many filters it is about, and again for further ones.':
      {
        'nodes/lifecycle': [
          'tells Catch nodes once that the broker refuses subscriptions, however many',
          'tells Catch nodes of a further subscription that the broker refuses, and not again of the first',
        ],
      },
    'What comes while flows are replaced goes there when they run.': {
      'nodes/lifecycle': 'tells Catch nodes of a refusal that comes while flows are replaced',
    },
    'When no node wants a refused one any more, it is forgotten at once.': {
      'mqtt/subscriptions': 'is well again at once when the node that wanted the refused one is gone',
    },
    '**Subscription that ends the connection.** Some brokers end the connection where they forbid a topic filter.':
      'about the broker',
    'Such a filter is looked for at once: with some of 30 forbidden, the others bring reports within 30 seconds.':
      {
        'mqtt/forbidding-brokers': [
          'brings the reports of all others within seconds, where it forbids …',
          'is looked for at once, though another one refuses the login',
        ],
      },
    'Where there is nothing else to subscribe, it is asked for a third time before.': {
      'mqtt/forbidding-brokers': 'delay the only filter by no more than a moment',
    },
    'With *Keep reports while Node-RED is down* the session gives one of the others back before that filter is asked for a last time, which may be one too many for the broker; what is reported for the other one until it is subscribed again, a few connections later, does not come.':
      {
        'mqtt/few-subscriptions':
          'is found to be so with few connections: … for … gateways, … in the session',
        'mqtt/forbidden-filters':
          'are none that may be one too many beside what a session had kept, until a place is free for them',
        'mqtt/forbidding-brokers':
          'goes on collecting for all others while these are found, but for one at a time',
      },
    'Then it counts as refused, and is tried again after 10 seconds, then 20, doubling to 5 minutes: one filter at a time, after all others, at the cost of one connection.':
      {
        'mqtt/forbidding-brokers': [
          'is tried again alone, after the others and at the cost of one connection, until it is allowed',
          'is told as refused, and the status is not "connected" meanwhile',
        ],
      },
    'One that was given back, and for which two connections have ended since, is tried first, then once more behind another one after each wait, after five times in turn with the others.':
      {
        'mqtt/forbidden-filters': [
          'may be one that has given its place: it is tried first, then behind each of the others, later in turns',
          'may be one that has given its place among many that were set aside: it is tried once in a row of them',
        ],
      },
    'After 40 connections in a row the search pauses: what is left is tried in the same rounds, two in a row after 20 seconds, 30 after 5 minutes.':
      {
        'mqtt/forbidding-brokers': [
          'is one of many: they are not all looked for in a row, and yet all are found',
          'is one of very many: what the search has left is tried in rounds, with longer and longer pauses',
        ],
        'mqtt/forbidden-filters':
          'are tried in a row while there are some that were only set aside: more of them the longer the wait was',
      },
    'It is remembered when no node wants it any more.': {
      'mqtt/forbidding-brokers':
        'is told as refused at once when it is wanted again, and costs no connection',
    },
    '**Few subscriptions allowed.** When the broker says that a quota is used up, or has ended three connections at the same number of subscriptions, wider filters take the place of narrow ones; those are given back when the wide ones are granted.':
      {
        'mqtt/few-subscriptions': [
          'has the wide one before the narrow ones are given back, and no refusal is told',
          'by ending connections is tried again after an hour',
        ],
        'mqtt/forbidding-brokers': 'are not taken for a limit: all filters stay as they are',
        'mqtt/broker-limits': 'and … brings the responses of all gateways over one of them (MQTT …)',
      },
    'However few it allows, about ten ended connections show it.': {
      'mqtt/few-subscriptions': [
        'is found to be so with few connections: … for … gateways',
        'is found to be so with few connections: … for … gateways, … in the session',
        'and ends the connection at a second one is found to be so: a request ends, and reports go on',
      ],
    },
    'A refused one that finds no room beside those that it covers, or perhaps none, is asked for in place of one of them, once an hour at most.':
      {
        'mqtt/refused-wide': [
          'asks for the wide one again … where the narrow ones take … of 9 subscriptions',
          'makes room at once for the wide one where only room is missing (MQTT …)',
          'is back at the narrow one that made room, once in an hour, where the wide one is refused then',
          'makes room for the wide one where the broker ends a kept session at its number',
        ],
        'model/subscriptions':
          'are those that it permits, without hanging requests, in … lives of some hours',
      },
    'What they bring beyond the wishes reaches no flow.': {
      'mqtt/broker-limits':
        'and is known is asked for wider ones, and what they bring beyond the wishes reaches nobody',
    },
    'Where a wide one is refused, the narrow ones stay in its place; where there is no room for all, the rest counts as refused.':
      {
        'mqtt/few-subscriptions': [
          'and forbids one wide filter has the others, and the narrow ones in the place of that one',
          'and forbids wide ones keeps the narrow ones that fit, and the rest is told as refused',
          'and forbids one for all responses goes on answering for the gateways that have theirs',
          'and is known for it answers for single gateways where one for all responses is forbidden, now or later',
        ],
        'mqtt/refused-wide':
          'lets narrow ones work on where the refused one would take their place, as its node has gone',
      },
    'One of the places goes to the responses of a gateway that is asked.': {
      'mqtt/few-subscriptions': [
        'and forbids wide ones gives one place to the responses of a gateway that is asked',
        'and forbids wide ones and all responses goes on bringing the reports of every gateway that has a place',
      ],
    },
    'What was refused is asked for again with the next connection, or after an hour.': {
      'mqtt/few-subscriptions': [
        'and forbids wide ones is asked for them again with the next connection',
        'is used again for wide ones an hour after one was refused, though the connection goes on',
      ],
    },
    'The number is tried again after a minute, doubling to an hour, or after an hour where connections have ended at eight or more; 10 seconds after leftovers of an earlier process were given back, and twice as long after further ones, up to an hour, where the broker has never said of one that it did not have it.':
      {
        'mqtt/few-subscriptions': [
          'is tried again after a minute: what was refused once may be allowed then',
          'by ending connections is tried again after an hour',
          'is tried again soon when leftovers of an earlier process were given back',
        ],
      },
    '**Several addresses.** What was learned of one address is not held against the others.': {
      'mqtt/forbidding-brokers': 'is asked of the next one',
      'mqtt/few-subscriptions': 'is not held against the next broker of the list',
    },
    '**No response to a subscription.** When the broker does not answer a subscription within 30 seconds, though it answers a later ping, the subscription counts as refused; the others go on.':
      {
        'mqtt/subscriptions': [
          'is given up when the broker has answered a later ping',
          'holds up no other, and is tried again with the refused ones',
        ],
      },
    'For that it is sent a ping where *Keep alive* brings none in this time.': {
      'mqtt/subscriptions': 'is given up after a ping of its own with a keep alive of … seconds',
    },
    'As long as pings wait too, the response is waited for: it may stand behind a flood of reports.': {
      'mqtt/subscriptions': [
        'is waited for as long as pings wait, too: its response may stand behind a flood',
        'is waited for though an earlier ping is answered meanwhile',
      ],
    },
    'What was asked for together is asked for one by one the next time.': {
      'mqtt/packet-sizes':
        'of which one is not answered are asked for one by one: the others bring their reports',
    },
    '**Lower QoS.** A broker that grants a lower QoS than was asked for, or takes only lower ones, is told of once, as a warning in the log.':
      {
        'mqtt/subscriptions': [
          'tells once that the broker grants less than was asked for',
          'tells that its reports may be lost, and does not say that more was asked for',
        ],
      },
    'With MQTT 3.1.1 few brokers say why; three connections in a row that end without a word, each within five minutes, are told as what may be that.':
      {
        'mqtt/one-connection': 'each soon and without a word, as another client may have its id',
      },
    '**Taken over.** When another client connects with the same client id, the broker ends this connection, and this package comes back with the waits above.':
      {
        'mqtt/connection': 'comes back when another client takes its id over',
        'faults/refusals': 'hands the client id to another client gets it back without a fight',
      },
    'Where that is another service of the same Node-RED, both take the connection from each other again and again; a warning in the log of each names the other, once while nodes use both, and so does *Test connection*, for a user who may not deploy only with the deployed client id.':
      {
        'nodes/service': [
          'is named to another one that nodes use with the same client id, once in the log and by its connection test',
          'is named by the connection test of somebody who may not deploy for the deployed client id, and not for a guess',
        ],
      },
    'Give each Node-RED a client id of its own; the generated one is.': {
      'nodes/service-properties':
        'clientId is made up where there is none: stable, and another one for another node',
    },
    'An id that looks like a MAC address is refused, because gateways use theirs.': {
      'nodes/service': 'refuses a client id that is like the MAC of a gateway',
    },
    "The generated client id is made from the node's id, the host name and Node-RED's user directory.": {
      'nodes/lifecycle':
        'makes a client id of its node, the host and the user directory, the same after a restart',
    },
    'It is the same after a restart.': {
      'nodes/service-properties':
        'clientId is made up where there is none: stable, and another one for another node',
    },
    'In a container whose host name changes with each start it is not: set *Client id* (`clientId`) or a fixed host name there, above all together with *Keep reports while Node-RED is down*.':
      'advice to the user',
  },
  'Deploy and close': {
    'While a deploy replaces nodes, whichever they are, reports wait.': {
      session: 'holds reports back while flows are replaced and loses none of them',
      'nodes/report-in': 'loses nothing while it is deployed anew',
    },
    'They go on when the flows have started, at the latest after 20 seconds; Node-RED gives a node 15 seconds to close.':
      {
        'nodes/report-in': 'loses nothing while it is deployed anew',
        'mqtt/waits':
          'are 20 seconds for reports while flows are being replaced and nobody says that they run',
      },
    'Where they have not started by then, as with a node type that is not installed, a warning in the log says so: what comes for a node that is not there is lost.':
      {
        'mqtt/client': 'goes on after 20 seconds, and tells so',
      },
    'So a deploy that leaves the service node alone loses no report.': {
      'mqtt/losses': 'while a deploy leaves the service alone are kept, …',
      'faults/deploys': 'of type … keeps every report and leaves nothing behind',
    },
    'What Node-RED has not passed on to the nodes wired behind *report in* yet when it begins comes to them when the flows run.':
      {
        'nodes/passed-on': [
          'and … costs no report, and brings none twice',
          'and replaces a node further behind costs no report either',
          'and another one right behind it cost no report either',
          'and restarts a service that a variable names costs no report',
          'and … costs no report of QoS … that is to be confirmed',
        ],
      },
    'So it is with what *device watch* has told, also over a full deploy.': {
      'nodes/passed-on': 'and replaces … costs no change that “device watch” tells',
    },
    'A *report in* node that the deploy changes gives of it what it asks for now, and one that it leaves *invalid* when it works again.':
      {
        'nodes/passed-on': [
          'and lets other reports through gives none of those that do not pass',
          'and leaves the node invalid keeps the reports for the one that is right',
        ],
      },
    'Responses to requests come meanwhile, too.': {
      'mqtt/client': 'tells the broker of responses, so that it sends those that follow',
    },
    'What is further down a flow, behind a junction or a link, or in a subflow, is lost with the nodes that are replaced there: for data that must not be lost there is *Confirm*.':
      'about Node-RED',
    'A deploy that restarts the service node (a full deploy, or a change of the service) makes a new connection.':
      {
        'nodes/lifecycle':
          'has one connection for all of its nodes, and another one after a deploy that restarts it',
      },
    'What gateways publish in between is lost, unless *Keep reports while Node-RED is down* is on.': {
      'mqtt/losses': 'while Node-RED is stopped are …, …',
      'nodes/service-properties': 'persistent keeps reports while the flow is away, with protocolVersion …',
    },
    "Nodes that name the service by a variable or a subflow's property go over to the new connection when the flows have started.":
      {
        'nodes/lifecycle': [
          'is followed by nodes that name it by a variable, when it alone is deployed again',
          "is followed by nodes that name it by a subflow's property, when it alone is deployed again",
        ],
      },
    'A message that arrives in between ends with `CLOSED`.': {
      'nodes/lifecycle': 'ends with CLOSED what arrives between its end and its successor',
    },
    'A service that names its TLS settings by a variable does the same when these are changed.': {
      'nodes/service-properties':
        'tls follows the node that a variable names, wherever that stands in the flow, and also when it alone is deployed',
    },
    'Every node closes within 2 seconds.': {
      'nodes/lifecycle':
        'closes its nodes within 2 seconds, and ends all that waits with CLOSED, at a broker and a service that are silent',
      'mqtt/preview-session': 'does not hold up the end of the service where the broker does not answer',
    },
    'What is waiting or in flight then ends with `CLOSED`.': {
      'nodes/lifecycle':
        'closes its nodes within 2 seconds, and ends all that waits with CLOSED, at a broker and a service that are silent',
    },
    'In a full deploy Node-RED replaces the Catch nodes too, so that nobody may hear of it: each node warns of how many messages end so.':
      {
        'nodes/lifecycle': 'tells … of the messages that a deploy of type … ends',
      },
    'So does a node whose Catch nodes are all closed with it by a smaller deploy, as Node-RED closes one whose scope is the changed node alone, or one in the same instance of a subflow.':
      {
        'nodes/unheard': [
          'warns where a deploy of type … …',
          'is heard where a deploy …',
          '… in a subflow where a deploy …',
        ],
      },
    'A request that was already sent may still be carried out by the device.': 'about gateways and devices',
    'The service disconnects from the broker at once, whatever is still unacknowledged, so that in a shared group the others get what comes from then on.':
      {
        'mqtt/closing': [
          'takes nothing of what a shared group still has for others, from the moment it closes',
          'sends DISCONNECT, so that the broker publishes no will and keeps no session',
        ],
      },
    'The socket is gone after 1.5 seconds at the latest.': {
      'mqtt/waits': 'are 1.5 seconds for the DISCONNECT to a broker that has stopped reading',
      'mqtt/closing': 'leaves no socket at a broker that has stopped reading',
    },
    'Reports of QoS 1 that were held are not acknowledged, and neither are those that Node-RED has not passed on to the nodes wired behind *report in* yet.':
      {
        'mqtt/gathered-acks':
          'leave in their order, those of one turn in one piece, once Node-RED has passed the reports on',
        'faults/stops': 'costs no report',
        'mqtt/inbound-queue':
          'releases what holds up the connection when it is dropped, without an acknowledgement',
        'mqtt/losses':
          'and were not yet handed to a flow when Node-RED stops come again with a persistent session',
      },
    'After a start, too, reports wait until all flows have started, at the latest for 20 seconds.': {
      'nodes/lifecycle': 'lets reports wait after a start until all flows have started',
      'mqtt/waits': 'are 20 seconds for reports while flows are being replaced and nobody says that they run',
    },
    'Until then a service that connects gives nothing back that the broker keeps for it with `persistent`; where that leaves no room for the responses to a request, the request waits.':
      {
        'mqtt/paused-start': [
          'loses nothing that is published meanwhile',
          'keeps what it has over a loss of the connection meanwhile',
          'gives back then what no flow wants, and what came twice until then comes once',
          'gives none of it to a request where a limit of the broker …, which waits',
          'gives it back when nobody has said for 20 seconds that they run',
        ],
      },
    'With `persistent`, where a deploy or a start leaves a *report in* *invalid* and no other node asks for reports, what the broker keeps waits for one that does, also over restarts: reports of QoS 1 are not acknowledged then, and no subscription is given back but where another one needs its room, as a refusal without a reason shows from eight on.':
      {
        'real-brokers/unable-nodes':
          'has what the broker has kept when the next start finds it right, where no other node asks for reports',
        'mqtt/subscription-plan':
          'leaves alone what a node may want that cannot work, but where others need its room',
        'mqtt/subscriptions':
          'have the room of what a node may want that cannot work, where the broker refuses others',
        'nodes/kept-session':
          'keeps what the broker has for its only node, which a deploy (…) has left invalid',
      },
    'A deploy gives them to the nodes that ask for them.': {
      'real-brokers/unable-nodes': [
        'has it when a deploy sets it right, each once',
        'has it to confirm, where its flow confirms reports',
        'is not alone where others cannot work either: each has what it asks for when it is set right',
      ],
    },
    'What comes beyond 5 000 of them or 32 MB is acknowledged and lost; so is, where other nodes ask for reports, or in a *Shared group*, what the broker has kept that none of them asks for: a node that cannot work stops no others.':
      {
        'reports/waiting-nodes':
          'are kept no more than a deploy can give them at once, and nothing where there are none',
        'reports/undecided': 'are not kept in a shared group, where others can have what comes later',
        'real-brokers/unable-nodes': [
          'holds up none that work: how many reports are lost is told (…)',
          'stops no node that a deploy adds: what was kept for it is told to be lost then',
          'stops none that work by what their filters bring beyond what they ask for',
          'gives up what is open where it does not confirm any more, so that others go on',
        ],
      },
    'A warning in the log says that reports wait, and how many are lost.': {
      'reports/waiting-nodes': [
        'are named once where the broker keeps reports for them, and again after a deploy',
        'have it told how many reports were lost that may have been for them: after a second, then every minute',
      ],
    },
    'A node that is removed or disabled is not waited for.': {
      'real-brokers/unable-nodes':
        'leaves nothing behind when a deploy removes it: the broker collects no more for it',
    },
  },
  'Reports: what is lost and what is not': {
    'A report counts as delivered when it was handed to the flow.': {
      'mqtt/inbound-queue': 'acknowledges a report of QoS 1 only when it was delivered',
    },
    'Only then is it acknowledged to the broker.': {
      'mqtt/inbound-queue': 'acknowledges a report of QoS 1 only when it was delivered',
    },
    'the connection breaks for a while | reports of this time are lost | kept by the broker | lost | kept by the broker':
      {
        'mqtt/losses': 'while the connection is broken are …, …',
        'faults/broker': 'every report arrives and every request ends: …',
      },
    'Node-RED is stopped, or killed | lost | kept by the broker; what was not yet handed to a flow comes again | lost | kept by the broker; what was open comes again':
      {
        'mqtt/losses': [
          'while Node-RED is stopped are …, …',
          'and were not yet handed to a flow when Node-RED stops …',
        ],
        'faults/node-red': 'delivers every report to a flow at least once',
      },
    'the broker is restarted | lost | kept, if the broker stores them on disk (Mosquitto: not in a shared group) | lost | kept, if the broker stores them on disk (Mosquitto: not in a shared group)':
      {
        'mqtt/losses': 'while a broker that stores sessions is restarted are …, …',
        'faults/broker': 'every report arrives and every request ends: …',
      },
    'a deploy that leaves the service alone | kept | kept | kept, up to 64 MB | kept; what was open at a node that is replaced comes again':
      {
        'mqtt/losses': 'while a deploy leaves the service alone are kept, …',
        'mqtt/inbound-queue': [
          'loses the oldest reports of QoS 0 beyond 64 MB of waiting ones, and counts them',
          'keeps within the bound, and loses no report of QoS 1 that it has, when the connection is lost meanwhile',
        ],
      },
    'the flows are too slow | kept: the broker has to wait | kept: the broker has to wait | beyond 64 MB waiting, the oldest are lost; counted and shown | kept: the broker has to wait':
      {
        'mqtt/losses': 'with QoS 1 to flows that are too slow make the broker wait, and none is lost',
        'mqtt/inbound-queue':
          'loses the oldest reports of QoS 0 beyond 64 MB of waiting ones, and counts them',
        'faults/overload': 'cost some reports, which are counted, and no request',
      },
    'the payload cannot be read, or the message is larger than 1 MB: then only its beginning is kept | goes to Catch nodes as `BAD_REPORT` | same | same | same':
      {
        'nodes/report-in': 'hands a report that cannot be read to the Catch nodes',
        session: 'parses no report that is larger than any is, and shows its beginning',
        'mqtt/publish-reader':
          'that are too large are kept by their beginning, what follows is read whole, in pieces of … bytes (MQTT …)',
      },
    'a *report in* node with labels has no list yet | the newest 1 000 (at most 16 MB) are held, also over a deploy; older ones are lost, counted and shown | same | same | kept by the broker':
      {
        'reports/label-filter': [
          'are held up to 1 000, and up to 16 MB',
          'wait for the first list, also over a deploy that leaves the service alone',
        ],
        'nodes/held-reports': 'comes after a deploy …',
        'nodes/statuses': 'show "no labels, … reports lost" as a … … at …',
      },
    '`persistent` is *Keep reports while Node-RED is down*.': {
      'docs/promises': 'names settings as the panels and the flows do',
    },
    'QoS is *Reports* (`reportQos`) under *Advanced*.': {
      'docs/promises': 'names settings as the panels and the flows do',
    },
    'It takes effect only for what a gateway publishes with at least this QoS; gateways publish with QoS 1.':
      'about MQTT',
    'The broker has limits of its own.': 'about the broker',
    'Mosquitto keeps 1000 messages per client unless `max_queued_messages` says otherwise, and keeps them over its own restart only with `persistence true`.':
      'about the broker',
    'With MQTT 5, *Keep for* (`sessionExpiry`) says how long the broker keeps them; with 3.1.1 the broker decides.':
      {
        'nodes/service-properties': 'sessionExpiry is what the broker hears: …',
      },
    'QoS 1 means at least once: after a break a report can come twice.': 'about MQTT',
    '*Repeats* (`duplicates`) set to *drop* lets it through once.': {
      'nodes/report-in': 'drops what it has heard a moment ago',
      'faults/broker': 'every report arrives and every request ends: …',
    },
    'It knows a report again by device, kind, property, parent, value and sequence number (else time), within 10 seconds (`duplicateWindow`), up to 100 000 different reports in one such time.':
      {
        'reports/duplicates': [
          'lets a report with another … through',
          'compares by time where there is no seq',
          'lets the same report through again after the window',
          'remembers a hundred thousand reports of one window, and less than twice as many',
        ],
      },
    'A deploy that replaces the node, as *Full* does, forgets what came before.': {
      'nodes/report-in': 'has forgotten after a deploy that replaces it what it has heard before',
    },
    'From the flow on, Node-RED is responsible.': 'about Node-RED',
    'A message that waits inside a flow is gone when Node-RED is killed.': 'about Node-RED',
    'For data that must not be lost, let the broker wait (below), or for samples the device: *report in* (*timestamped sample*) → store → *ack report*.':
      {
        'faults/kills': 'are never lost, wherever a SIGKILL falls',
      },
    'What was not acknowledged, the device sends again.': 'about gateways and devices',
    'The broker may have kept ("retained") a report.': 'about the broker',
    'It comes with every new subscription, so also after every reconnect, and has `retained: true`.': {
      'mqtt/losses': 'retained come again with every connection, and say so',
    },
    'A node that is added beside another one with the same filter has it with the next connection.': {
      'mqtt/losses': 'retained come to a subscriber beside another one with the next connection',
    },
    'It does not say where its device is now: pickers do not show it, and a request without a gateway does not go by it.':
      { 'mqtt/losses': 'that are retained do not say where a request without a gateway goes' },
    'With `persistent`, a broker goes on collecting for subscriptions of flows that were changed while Node-RED was down.':
      'about the broker',
    'They are recognised by the first report or answer that nobody wants, or by the first report that comes twice, and given back; of an earlier topic prefix too, and the same ones without a group where there is one now, but not of another shared group: the members that stay there miss what the broker goes on giving to this one.':
      {
        'mqtt/left-sessions': [
          'gives back subscriptions to responses that nobody here has asked for',
          'gives back a subscription to the responses of all gateways, and not one that is in use',
          'gives back … to reports that nobody wants any more',
          'gives each report once, although the broker sends it for the old subscription too',
          'gives back what it has asked for without the group that it is in now, before anything has come',
        ],
        'mqtt/stale-subscriptions': 'names the filters of the shared group, too',
      },
    'A broker that comes back as it was before, as after a power cut, may hold again what was given back: what an earlier process had asked for is looked for again after ten minutes, where it shows, what this process has asked for is not.':
      'about the broker',
    'Neither is what it has asked for by another address of the same cluster.': 'explains',
    'In a group with MQTT 3.1.1 nothing may show narrower ones, and two members have the same report.':
      'about the broker',
    'What has waited at the broker for them, or for filters that a deploy gives back, comes to flows once; until nothing came twice for a second, and for a minute at most, what a sender really sends twice is taken for that.':
      {
        'mqtt/confirm-copies': [
          'are given once…, when many of them have waited at the broker',
          'are given once, when the connection is lost while one is …',
          'are given once, when a deploy takes away one of the nodes while they wait at the broker',
          'are given once, when the filter went in the deploy before the one that starts the service anew',
          'are given once, when a subscription of an earlier process brings them, too, which is given back',
          'are given once, when … for a while between a deploy that takes away a node and what has waited',
        ],
        'mqtt/left-sessions': [
          'passes on what a sender really sends twice, once nothing is left to give back',
          'believes a sender that sends everything twice after a minute',
        ],
      },
    'With `persistent`, responses to requests are subscribed with QoS 0, so that the broker does not fill its queue with them while Node-RED is away.':
      {
        'mqtt/left-sessions':
          'lets the responses of others not fill the queue that the broker keeps for a killed process',
      },
    'They are given back when the service closes, in packets as the broker was seen to take, and so is what an open panel has asked for.':
      {
        'mqtt/closing': [
          'does not leave the subscriptions to responses in a session that the broker keeps',
          'gives subscriptions back in packets as the broker was seen to take',
        ],
      },
    'With `persistent`, a redeploy, a restart or a kill leaves the subscriptions at the broker, which is what it is for.':
      {
        'nodes/kept-session': '… its subscriptions when a deploy …',
        'mqtt/losses': 'while Node-RED is stopped are …, …',
      },
    'A deploy that deletes or disables the service, or changes its *Client id* (`clientId`) or all of its broker addresses, gives them back before it leaves the broker; one that deletes or disables it with the instance of its subflow, or moves it to a disabled flow, when the flows have started.':
      {
        'nodes/kept-session': [
          '… its subscriptions when a deploy …',
          'gives back its subscriptions when a deploy deletes the instance of its subflow, and keeps those of others',
          'gives back its subscriptions when a deploy moves it to a flow that is disabled',
        ],
        'mqtt/closing': 'leaves nothing subscribed in a session that nobody comes back to',
      },
    'Where one of its addresses stays, whatever is added or comes in another order, they are left; at an address that is taken away, too, since both may lead to one broker: a warning in the log names it.':
      {
        'nodes/kept-session': '… its subscriptions when a deploy …',
        'mqtt/closing':
          'leaves alone, and names in the log, an address that is taken from the list while another one stays',
      },
    'They are given back also by a deploy that takes away the last node that needs the connection; where the service restarts with it, it connects for that once more, for 30 seconds at the latest.':
      {
        'nodes/kept-session': '… its subscriptions when a deploy …',
        'mqtt/closing':
          'gives back what the broker keeps when a deploy brings the service back without a node that wants it',
      },
    'A service that no node uses leaves them alone while another one has the same session and needs it, or has wrong settings.':
      {
        'nodes/kept-session': [
          'stays with it when a deploy …, though a copy … it, which …, has the client id',
          'goes over to a copy … it when a deploy gives that the node',
          'is given back once when a deploy takes the last node away, though a copy … it has the client id',
          'stays while the settings of its service are wrong, though a copy … it has the client id',
        ],
      },
    'When the service is deleted, disabled or changed so, they are given back at each address that may hold some, also where nothing is connected just then, within 1.5 seconds more.':
      {
        'mqtt/closing': [
          'leaves nothing subscribed at an address of before, in a session that nobody comes back to',
          'names in the log what it cannot reach at an address of before, in a session that nobody comes back to',
          'leaves nothing subscribed in a session that nobody comes back to, also where the connection is closed',
          'names nothing in the log where several addresses of before lead to one broker',
          'gives back at an address of before also where another one does not answer',
        ],
      },
    'Reports of QoS 1 that come meanwhile are not acknowledged: where the addresses of before and those of now lead to one broker, the service that follows gets them.':
      {
        'mqtt/confirm-failover':
          'come again while they are open, and are not acknowledged unseen, when a deploy …',
      },
    'When a broker is away just then, it goes on collecting for nobody.': 'about the broker',
    'An exchange of QoS 2 that a lost connection interrupted is completed over the next one, and its report comes once, also where it waited for a deploy that restarted the service, but not after a restart of Node-RED.':
      {
        'mqtt/receiving': [
          'keeps a report of QoS 2 that the broker handed over before the connection was lost',
          'comes once (MQTT …)',
          'comes once after a deploy, however often the service is deployed',
        ],
      },
    'Where 64 MB have come with QoS 2 that the broker does not release, the connection is ended, and tried again after 10 seconds, doubling to 5 minutes.':
      {
        'mqtt/incoming-store': [
          'are not confirmed beyond 64 MB, which is told for each of them, until some are released',
        ],
        'mqtt/one-connection': [
          'when 64 MB of QoS 2 have come that the broker does not release, and is made again after a long wait',
        ],
        'mqtt/reasons': ['of … tells what can be done, and when it is tried again'],
      },
    '**Reports that the flow confirms.** With *Confirm* (`confirm`) set to *when an “ack report” node has had it*, the broker is told of a report of QoS 1 only when each *report in* node that is set so has its own acknowledged by an *ack report* node.':
      {
        'mqtt/confirm': 'are confirmed when each of the nodes that must has confirmed its own',
        'nodes/confirm':
          'carries a delivery, which a copy keeps, and is done when an acknowledge node had it',
        'faults/confirmed-kills': 'are never lost, wherever a SIGKILL falls',
        'faults/stored-kills':
          'are all in both, wherever kills of Node-RED fall, and only what was open is there twice',
      },
    'Many are open at once, and the broker is told in the order in which they came.': {
      'mqtt/confirm': [
        'are all at the flow, and none is acknowledged before (MQTT …)',
        'are acknowledged in the order in which they came, others that are done wait',
      ],
    },
    'Neither the responses to requests nor the reports of other nodes wait for that, until as many are open as the broker allows, at most 65 535, with MQTT 5 at most 1 000; then the broker keeps further reports, and responses come all the same.':
      {
        'mqtt/confirm': [
          'hold up neither the responses to requests nor the reports of other nodes',
          'hold up no response to a gateway that was asked before a node began to confirm',
        ],
        'mqtt/client-options': 'are of …',
        'reports/open-reports':
          'are as many as MQTT has numbers for, so that responses are read; nothing is beyond that until one is confirmed',
      },
    'With 64 MB open nothing more is read, responses neither, and the broker keeps the rest.': {
      'reports/open-reports': [
        'take no more than 64 MB',
        'take little memory, as many as there may be, and do not keep alive what they came in',
      ],
    },
    '**What comes again.** A report that is not acknowledged within *Again after* (`confirmTimeout`, 300 seconds) comes to the flow again with `redelivered: true`, and again after the same time; from the fourth time on the time doubles, up to ten minutes.':
      {
        'mqtt/confirm': 'come again, marked, until they are confirmed, and any copy counts',
        'reports/open-reports':
          'come again after a time that is the same at first, and then longer, up to ten minutes',
        'faults/unstored': 'because it forgets one in a hundred come again, and are stored',
      },
    'What the flow asks for again (`msg.action` `again`) comes after the time of the *ack report* node (`retryAfter`, 10 seconds), which doubles in the same way, so that a database may be down for an hour.':
      {
        'reports/open-reports':
          'that a flow wants again come after the time that it names, and then later, so that an hour costs none',
        'faults/unstored': [
          'because the database is stopped are stored when it is back',
          'because the database does not answer are stored when it does again',
          'while the database is stopped are stored also when the broker is restarted meanwhile',
          'because the database is full are stored when it has room again',
        ],
      },
    'What is not open any more cannot come again: that is `INVALID_INPUT`.': {
      'nodes/confirm': 'that is acknowledged already cannot come again, and an error says so',
    },
    'Acknowledging any copy of it counts.': {
      'mqtt/confirm': 'come again, marked, until they are confirmed, and any copy counts',
    },
    'At most 500 come again every half second, in turns between which others have theirs.': {
      'reports/open-reports': [
        'come again a part at a time, and each has its turn',
        'come again in turns, so that others have theirs, and not while flows are replaced in between',
      ],
      'mqtt/confirm-again': 'come again to a node with a list of 10 000 devices without holding up anything',
    },
    'After 20 times (`redeliverMost`) it is an error at the Catch nodes, with all that was received, and the broker is told.':
      {
        'mqtt/confirm':
          'that can never be stored are an error with all that was received, and then confirmed',
        'nodes/confirm': 'that can never be stored is an error with its content, and ends',
        'faults/unstored':
          'ever are given to Catch nodes with all that was received, and then the broker is told',
      },
    '**A lost connection.** With `persistent`, what is open when the connection is lost, or waits behind that, is known again when the broker sends it, and no flow gets it twice.':
      {
        'mqtt/confirm': [
          'are not given to the flow twice over a loss of the connection, and what was confirmed meanwhile is done',
          'that are confirmed while the connection is lost are not given to the flow again, the oldest neither',
          'are not given twice after a loss where the broker sends a copy for each of several subscriptions',
          'are not given twice that were waiting for the end of a deploy when the connection was lost',
          'that wait for one before them are not given twice over several losses',
          'hold up others that no flow has twice over a loss, whether it confirms or not',
        ],
      },
    'So is what was acknowledged on a connection that was dead already, up to 65 535 reports.': {
      'mqtt/confirm-changes':
        'come once to one that confirms at once, when the connection is lost before the broker hears of it',
      'mqtt/confirm-failover':
        'that are acknowledged on a link which is dead, and nobody knows, are not given to the flow twice',
      'mqtt/ordered-acks':
        'are settled from the oldest on where there are more than a broker leaves unacknowledged',
    },
    'It may come from another address where both belong to one broker or cluster; what comes again from an address that was not in use is known for a day.':
      {
        'mqtt/confirm-failover': [
          'of the same broker are not given to the flow twice',
          'of another broker and back are not given to the flow twice, open or confirmed meanwhile',
        ],
        'reports/open-reports':
          'of an address that is not in use are known again there for a day, and forgotten then',
      },
    'Neither does any flow get anything twice from a broker that sends again what is open, or waits behind it, over the same connection, as NATS and EMQX do after 30 seconds.':
      {
        'mqtt/confirm': [
          'are not given to any flow twice by a broker that sends them again while it waits',
          'are not given twice where one that was just acknowledged is sent again between two copies …',
        ],
      },
    'All this needs a broker that marks what it sends again (DUP), as MQTT demands; from one that does not after a new connection, such as aedes, what is open and what was acknowledged behind it come as new ones.':
      {
        'mqtt/confirm-same': 'come as new ones from a broker that does not mark what it sends again',
        'simulator/service':
          'marks what it sends a session once more after a loss, and not what has waited there',
      },
    '**A deploy or restart.** A deploy that replaces the node brings what is open again, which is none of those times.':
      {
        'mqtt/confirm': 'come again to the node that a deploy has put in the place of another',
        'nodes/confirm': 'comes again to a node that is deployed anew',
        'reports/open-reports': 'are not given up because their node is deployed often',
      },
    'One that restarts the service brings, with `persistent`, nothing again that was acknowledged behind it, also where addresses are added, taken away or come in another order; so does one that gives its nodes to another service with the same session, unless that connects before the flows run.':
      {
        'mqtt/confirm-changes':
          'come no more, when the broker has the second copy still to send as the service is started anew',
        'mqtt/confirm-deploys': [
          'do not come again when the service is restarted by a deploy; the open one does',
          'do not come again when a deploy …',
        ],
        'nodes/kept-session':
          'brings what is open again, and nothing that was acknowledged, when a deploy gives its nodes to a copy … it, …',
      },
    'What is open at a node that a deploy leaves *invalid* waits for one in which it works or is removed.': {
      'mqtt/confirm-deploys': [
        'wait for a node that cannot work, until it can',
        'are given up with a node that cannot work when it is removed',
      ],
      'nodes/confirm': 'waits for its node, which a deploy has left invalid, until it works again',
    },
    'A node that a deploy removes or disables, also with its flow, that asks for other reports after it, or confirms none any more, gives up what is open: the broker is told that it is done, and a warning in the log says how many.':
      {
        'mqtt/confirm': 'of a node that was removed are nobody’s any more',
        'nodes/confirm': 'is given up, which the log says with the number, when a deploy …',
        'mqtt/confirm-deploys': [
          'are given up, which a warning says with their number, by a node that … now',
          'are given up, and reach no flow, where their gateway has none of the labels that the node asks for now',
          'come again to a node that asks for other labels, where their gateway has one of these',
        ],
      },
    'After a restart of Node-RED or of the service the broker sends what was open to every node that asks for it, also to one that has had it, and through *Repeats*.':
      {
        'mqtt/confirm': 'come again from the broker to the next process',
        'mqtt/confirm-deploys':
          'come again to all who ask for them when the service is restarted, what was acknowledged to none',
      },
    'So what stands beside a node that confirms, such as a rule or a counter, must be able to have a report twice, as with QoS 1 after any break.':
      'advice to the user',
    '**Samples.** A sample is acknowledged to its device before the broker is told.': {
      'nodes/confirm':
        'that is a sample is acknowledged to the device first, and to the broker when the device has that',
    },
    'After an acknowledgement that a gateway has not answered in time, nor any other since that was sent, the broker is told as soon as it has the next one to this gateway, without waiting for a response, until one comes.':
      {
        'nodes/confirm':
          'that is a sample is open at a gateway that answers none until the broker has the acknowledgement, but the first one',
        'mqtt/acknowledgements':
          'hold up no report at the broker once it has them and one was not answered, and not before',
      },
    'Where that fails the broker is told all the same, since the device sends the sample again until it has its acknowledgement, and a device that never answers would hold up everything.':
      {
        'nodes/confirm':
          'that is a sample is confirmed to the broker although its device never has the acknowledgement',
      },
    "**Files.** Node-RED's own *file* node passes a message on also when it could not write it, as on a full disk; so the example *Store, then acknowledge* writes with a function.":
      {
        'examples/harm-reports':
          'Store, then acknowledge: nothing is acknowledged while the disk is full, and all of it is stored when there is room',
      },
    '**QoS and order.** Where the service asks for QoS 2, reports are asked for with 1 as long as a node confirms; with QoS 0 nothing is confirmed.':
      {
        'mqtt/confirm':
          'are asked for with QoS 1 where the service has 2, of which a broker keeps only the number',
        'nodes/confirm': 'of QoS 0 has none, and is not kept',
      },
    'MQTT wants the order kept: a report that nobody acknowledges holds up those behind it once as many are open as the broker allows (Mosquitto: 20), until it is acknowledged after all, or given up.':
      'about MQTT',
    'So do the reports of a node with labels as long as no device list could be read since the start: nodes without labels get nothing more, either, and a warning in the log says so.':
      {
        'nodes/confirm':
          'the status of a node with labels does not call it unconfirmed, and the log says what it holds up',
      },
    'Where a rule must not wait for that, a service of its own has a connection of its own.':
      'advice to the user',
    '**Why the overload policy is so.** A report of QoS 1 is one that the sender wants to arrive, so the broker holds it.':
      {
        'mqtt/losses': 'with QoS 1 to flows that are too slow make the broker wait, and none is lost',
      },
    'A report of QoS 0 may be lost, and the newest is worth more to a rule than the oldest.': {
      'mqtt/inbound-queue': 'loses the oldest reports of QoS 0 beyond 64 MB of waiting ones, and counts them',
    },
    'A burst is not an overload: up to 64 MB of waiting reports, some 180 000 of the usual size, none is lost.':
      {
        'mqtt/inbound-queue': 'loses none of 180 000 reports of QoS 0 that come at once',
        'mqtt/receiving': 'loses none of 50 000 reports of QoS 0 that come as fast as the socket takes them',
      },
    'In both cases flows get at most 500 reports at a time before others have their turn (50 after a start, then more), and fewer where that takes longer than 20 milliseconds, so requests still go through and memory stays bounded.':
      {
        'collections/turn-budget': [
          'begins small and grows by a quarter while flows are quick, up to 500 reports',
          'is halved while flows take longer than 20 ms, down to 10 reports',
        ],
        'faults/overload': 'cost some reports, which are counted, and no request',
      },
    'While reports of QoS 1 wait turn after turn, responses come behind them: a request waits longer by as much, 5 minutes at most.':
      {
        'mqtt/slow-flow': 'costs no request that its gateway answers at once',
        'mqtt/sent-requests':
          'have as much more time as reports have held up what is read, but no more than five minutes',
        'mqtt/waiting-requests': 'wait as much longer as reports have held up what is read',
      },
    'The first loss and the end of the overload are told as warnings in the log, and the count in the status.':
      {
        'mqtt/waits': 'are 10 seconds without a further loss until an overload is over, which the log tells',
        'nodes/statuses': 'show "overloaded, … lost" as a … … at …',
      },
    'This holds for flows that keep the processor busy.': 'advice to the user',
    'A flow that waits for something else, such as a database, takes every message at once and keeps it in memory.':
      'advice to the user',
    'Limit it in the flow.': 'advice to the user',
  },
  'Last values': {
    '**What is known.** A *last value* node knows what was reported since the first deploy of such a node.': {
      'nodes/last-value': 'sends the newest value with its report, its age and where it came from',
    },
    'What comes while no such node asks for it is not noted, as while the broker is away: one that is disabled for a while has the values of before then, with their age.':
      { 'nodes/last-value': 'has what it knew before, with its age, where it was disabled meanwhile' },
    'Of 200 000 values, or some 256 MB, those that were not heard for longest go first.': {
      'network/last-values': [
        'go when there are too many, those first that were not heard for longest',
        'go when they take too much memory, however few they are',
        'go when names in their JSON take too much memory, in the value and beside it',
      ],
    },
    "A sample that comes late (`backfill`) does not replace a newer value; a time that lies ahead of this machine's clock counts as the moment when the sample was heard, unless both lie ahead.":
      {
        'network/last-values': [
          'that comes late do not replace a newer one, whatever brought that',
          'that comes late do not replace it in what another gateway has brought either',
          'go on after one of a device whose clock was ahead',
          'that comes late do not replace a newer one where the clock of this machine is behind',
          'are restored as they were known, by all gateways',
        ],
      },
    'Any other sample does, also where the clock of its device is wrong.': {
      'network/last-values':
        'that was heard last count, though the clock of its device has gone back or is behind',
    },
    'When the own entries of the catalogue (*Properties*, `identifiers`) change, what was reported in hex is decoded anew; what was read of such a property, and what the sidebar shows of it, is forgotten by the deploy that changes it, or the start that finds it changed.':
      {
        'network/last-values': [
          'are decoded anew by a catalogue that has changed, over a deploy',
          'are decoded anew by a catalogue that has changed, over a restart',
          'of reads are forgotten where a deploy has them decoded otherwise',
        ],
        'nodes/value-memory':
          'is decoded anew by other own properties, and forgotten where it was read, as with a deploy',
        'network/network-state':
          'shows nothing that another catalogue has decoded, before it is reported again',
      },
    '**Labels.** With labels, messages wait for the first device list, 10 000 at most, and tell why there is none.':
      {
        'nodes/last-value':
          'tells that the gateways of a label are not known, and does not take all for none',
        'rest/device-directory':
          'lets 10 000 queries of one node wait for the first list together, in little time, and refuses more',
      },
    '**Very many values.** A list of very many values is put together in turns, so that reports come in between.':
      {
        'network/value-query': 'brings all in order, and does not hold reports up meanwhile',
      },
    '**Newer values.** Of the devices that it asks for newer values, 100 are asked at a time at most, eight of them at one gateway, and no more than may wait (`maxQueue`); those that do not answer are one error.':
      {
        'network/value-query': [
          'asks no more devices at a time than may wait, however many queries there are',
          'does not let other gateways wait for one that is silent',
          'tells in one error how many devices are silent, and which',
        ],
        'nodes/last-value':
          'reads them anew without filling the queue itself, and tells of all failures in one error',
      },
    'That is of all messages together, so that those about other gateways do not wait for a silent one.': {
      'network/value-query': [
        'does not let queries about other gateways wait for those about one that is silent',
        'asks no more devices at a time than may wait, however many queries there are',
      ],
    },
    'Of a gateway those that were heard last are asked first; when eight have timed out and it has answered none, the rest of its values count as failed, too, and are not asked for.':
      {
        'network/value-query': [
          'gives up a gateway that is away when eight have timed out, beginning with those heard last',
          'asks for everything at a gateway that has answered once, …, however many devices are dead',
          'asks for everything at a gateway whose requests do not leave',
        ],
      },
    'A device is asked through the gateway that hears it best now; where that is not known, through the one that brought the value.':
      {
        'network/value-query':
          'asks a device by the gateway that hears it now, not by the one that had its value',
      },
    'A message that comes while its node asks for the same already gets what that brings; at most 1 000 messages wait for that of one gateway, as many of several gateways, and 10 000 in all, and a further one ends with `QUEUE_FULL`.':
      {
        'network/value-query': [
          'asks every device once for messages that come at the same time, and each gets all values',
          'asks a device once for messages about one property that come at the same time',
          'lets only so many messages join one that is asked, and asks other devices all the same',
          'lets only so many messages wait for silent devices, and tells each how it ends',
        ],
        'network/shared-reads': [
          'are waited for by so many messages, and by others when these are over',
          'are waited for by so many messages in all, whatever gateways these are about',
        ],
      },
    'While the broker is away none is asked after the first has failed.': {
      'network/value-query': 'does not go on while the broker is away, since each read would wait for it',
      'mqtt/waits':
        'are no longer for queries for old values that wait for others at their gateway while the broker is away',
    },
    "Where it refuses the subscription to the responses of one gateway, or a request to it, or does not confirm that subscription, the rest of that gateway's values count as failed, and all others are asked.":
      {
        'network/value-query': [
          'gives up a gateway whose responses the broker refuses, and asks all others',
          'gives up a gateway whose responses the broker does not confirm, and asks all others',
          'gives up a gateway whose requests the broker refuses, and asks all others',
        ],
      },
    '**Over a deploy.** They are kept over a deploy, unless it removes the service or gives it another broker or topic prefix; as long as one address of the broker stays, it is the same.':
      {
        'nodes/value-memory':
          'is of the same network as long as one address of the broker stays, with the same topic prefix',
        'nodes/last-value': [
          'still knows everything after a deploy of all nodes, and nothing of another broker',
          'still knows and stores everything when the service has another session at the broker',
        ],
      },
    'Of a service that is disabled only what *Remember in* stores is kept.': {
      'nodes/last-value': 'leaves in the store what is known when a deploy disables the service',
      'nodes/value-memory': 'stays in the store while the instance of its subflow is disabled',
    },
    'So is which gateway has reported a device, which requests without a gateway need.': {
      'nodes/last-value': 'still knows which gateway hears a device after a deploy of all nodes',
    },
    '**In a store.** With *Remember in* (`remember`) the newest 10 000, some 16 MB at most, are written to that context store, every 30 seconds at most, sooner where a watch has told something, and when Node-RED stops, and are known again after a start with the same broker and topic prefix.':
      {
        'e2e/remember': 'are known to the next process, with their age',
        'nodes/value-memory': [
          'is ten thousand values, and no more than a store can take',
          'is no more than a store can take, also where reports have long values and long names in them',
          'is in a store for the network that it is of, and replaced by another',
        ],
      },
    'A value that is a list or an object is written as a text, so that a store that indents what it holds takes no more for one that is nested deep.':
      {
        'e2e/remember': 'are known to the next process, with their age',
        'nodes/value-memory': 'is no more than a store can take that indents it, however deep it is nested',
      },
    'Where one alone would take more than the 16 MB, or more than the newer ones leave of them, those before it are written without it.':
      { 'nodes/value-memory': 'is all that has room beside a value that has none' },
    'Nothing is written before the store has been read: while that fails, its content stays.': {
      'nodes/value-memory': [
        'is not replaced by the few values that came before the store was read',
        'is not replaced while the store cannot be read, which is told once',
      ],
    },
    'A store that fails costs no report, is waited for 1.5 s at most when the service closes, and is told once.':
      {
        'e2e/remember': 'go on without a store that fails, which is told once',
        'nodes/value-memory': 'does not keep a deploy waiting for a store that never calls back',
      },
  },
  'Device watch': {
    '**Beginning and end.** A *device watch* tells once when a condition begins and once when it ends; one that comes and goes within 5 seconds is not told.':
      {
        'network/device-watch': [
          'once, when it was not heard for the time that was set, and once that it is back',
          'once, however often it is reported, and not when it comes and goes within five seconds',
        ],
        'nodes/device-watch': 'tells when a battery is low, and when it is not any more',
      },
    'A weak signal is that of the best parent by which the device can be reached, of those heard with the newest one or within the time of a silence before it, five minutes at least where none is set: a bad parent that happens to be heard last tells nothing, and neither does time that passes.':
      {
        'network/network-state': [
          'takes no device for badly heard because a bad parent was heard last, nor because time has passed',
          'knows how well each parent hears a device, and the best of them within a time',
        ],
      },
    'It ends when it is 3 dB better than its limit.': {
      'network/device-watch': 'of a signal around its limit once, until it is 3 dB better',
    },
    'A low battery ends at its own limit (*Battery fine from*), 5 % above *Battery below* where none is set; a level that is missing or no percentage ends nothing.':
      {
        'network/device-watch': [
          'of a battery around its limit once, until it has the level from which it is fine',
          'by a level that a battery can have: none other begins or ends anything',
        ],
      },
    '**The gateway of a condition.** Where several gateways hear a device, a condition names the one where it began until that has not heard the device for the time of a silence, then the one that heard it last.':
      {
        'network/device-watch': [
          'also where another one hears the device, as long as its own still does',
          'until its own has not heard it for the time of a silence, and then another one',
        ],
      },
    'Update mode ends when the device reports anything else, or is not heard for the time of a silence, 15 minutes where that is not known; an address that was heard in update mode alone is missed by nobody.':
      {
        'network/device-watch': [
          'when the battery, the signal, an error or the mode says so, and when that is over',
          'which is over when the advertisements have ended, also under an address of its own, that nobody misses',
          'and is missed as before when its own address does not report any more',
        ],
      },
    '**What was taken away.** What was taken away is forgotten by a message with its address in `msg.forget`: what was told of it ends, and it is not watched before it is heard again.':
      {
        'nodes/device-watch': ['forgets what was taken away until it is heard again'],
        'network/device-watch': ['and not with what was forgotten'],
      },
    'One that is listed, or carries a label, is missed again after the next deploy.': {
      'network/device-watch': 'misses what was forgotten again after a deploy where it is listed: a device',
    },
    '**Errors.** A device has one error per property and one of its heartbeat, eight in all: the condition begins with the first and ends with the last of them, also over a restart.':
      {
        'network/network-state': 'remembers eight errors of a device, that of its heartbeat among them',
        'network/device-watch': [
          'of errors from the first until the last of them is over: heartbeat and each property',
          'with errors that end one by one, by name or by hex id',
        ],
      },
    '**When a device is silent.** A device is silent when nothing of it was heard for the time that is set, else for three times its usual interval and at least a minute; the interval is known after five reports, that of a gateway with several devices after twelve.':
      {
        'network/device-watch': [
          'by its usual interval where no time is set, but at least after a minute',
          'and hears it by any of its reports, and by any gateway',
        ],
        'network/watch-habits': [
          'also where its devices report together, always in the same order',
          'is not told silent in its first hours for devices that report in 20 minutes, whenever they do',
        ],
      },
    'Where properties repeat at times of their own it is known when those of the first reports have come again, when one of them has come four times, or after 25 minutes; that of a gateway with several devices when those of two are known, after 36 reports, or after 25 minutes.':
      {
        'network/watch-habits': [
          'tells nothing in the first hours: 8 of them, a heartbeat every 0 minutes',
          'tells the death of one soon after the start, by a heartbeat that comes oftener',
          'tells the death of one half an hour after the start, though it said something but once',
          'is not told silent after 4 of its devices have joined, each with its properties three times',
          'tells its own death soon after the start, where many devices report seldom',
        ],
      },
    'A watch with *Gateways* or *Labels* hears its devices through other gateways, too, as long as other nodes receive those: a device that was carried there is not silent, and what it reports there of its battery, its signal, errors or update mode counts.':
      {
        'network/watch-scope': [
          'hears it through that one, too',
          'tells of one that it has heard itself what it reports at another gateway of its battery',
        ],
      },
    'One that is listed in *Devices* is one of its devices from the start, also where *Gateways* or *Labels* are set.':
      {
        'network/watch-scope':
          'tells of a listed one that was heard there alone what it reports at another gateway of its battery',
      },
    'Such a device stays watched, over deploys and restarts as well, as long as the gateway of the watch that heard it last is one of *Gateways* or carries a label, even where that was taken away.':
      {
        'network/watch-moved': [
          'goes on with what it has told of it over a deploy, and tells its return',
          'goes on so over a restart and a deploy after it',
          'goes on so over restarts and deploys',
          'tells nothing of it when another gateway gets the label, and its end when its own loses it',
          'keeps it over restarts by the one that carries a label, also where both were taken away',
          'keeps it so by the one that brought most of it before the start, where only that carries a label',
        ],
      },
    '**The usual interval.** The usual interval is the longest pause that came twice in about a day, so that neither a burst nor a busy day hides quiet hours, and a single failure is no habit.':
      {
        'network/watch-habits': [
          'takes 10 events every ten minutes for one, and tells its death after half an hour',
          'tells nothing from the first night on',
          'tells one that dies by day after an hour',
        ],
        'network/network-state': ['in spite of one failure', 'and learns another habit'],
      },
    'What is reported often at first and seldom later, as after a device was mounted, is told silent until the longer pause has come twice.':
      {
        'network/watch-habits': ['learns in two pauses the night of sensors whose values change all day'],
      },
    'Events are no habit of what reports anything else.': {
      'network/network-state': 'from events only of what reports nothing else',
      'network/watch-habits':
        'tells nothing from 12 h on either, since events are no habit beside a heartbeat',
    },
    'Nor are samples that come late (`backfill`): a backlog comes as fast as it can.': {
      'network/watch-habits': [
        'takes late samples for no habit of a device that joins with them: they come as fast as they can',
        'takes late samples for no habit of a gateway',
      ],
    },
    'Until it is known, different reports and events are one as long as each comes within ten seconds of the one before, for up to a minute; what was known before a restart counts on.':
      {
        'network/watch-habits': [
          'does not miss one that joins with eight properties and then has a heartbeat in five minutes',
          'takes 30 properties in 60 s for one, however often it has a heartbeat in between',
          'knows one that goes on with two values in turn after it has joined',
          'tells the death of one that reports without a pause: events alone, every 5 seconds',
          'remembers its nights when Node-RED is restarted in the afternoon',
        ],
      },
    'What was heard fewer times counts anew with each start; where a time is set, its silence is stored all the same.':
      {
        'network/stored-watches': ['is its silence, where a time is set', 'is nothing, where none is set'],
      },
    '**After a start, and after the broker was away.** With *Remember in* an interval is stored again when it has grown by a quarter, and each when Node-RED stops; that of a gateway also where nothing but its devices is watched.':
      {
        'network/device-watch': [
          'also where its interval has grown since, and with it what a store must hold',
          'with the interval of a gateway whose silence nobody watches, stored as soon as it is known',
        ],
        'nodes/value-memory': ['holds with a watch what that has learnt until the end'],
      },
    'For how long each was silent is stored, too, and goes on after the start; the time in which Node-RED is down does not count, and neither does the first minute after it, which gateways need to come back.':
      {
        'network/device-watch': [
          'and tells a death in time, also when each process is over before',
          'and takes nobody for silent who comes as often as ever, however often Node-RED starts',
          'as soon as without one where a gateway has few devices, whether or not its own silence is watched',
          'and with the interval of a gateway that was silent: it is back once, not with each report',
          'as long as somebody was silent, whatever stands there for it',
        ],
        'network/watch-habits': [
          'counts how long one was silent before, and not the first minute after it',
          'makes no device silent that reports every 10 seconds, where it needs 55 seconds to come back',
        ],
      },
    'That is stored once an hour where somebody is silent and others report, and when Node-RED stops.': {
      'network/stored-watches': [
        'is at most an hour old where Node-RED is killed and nothing but silence has changed',
        'is written once an hour at most for that, and not where all are heard, or none',
      ],
      'nodes/value-memory': 'holds with a watch what that has learnt until the end',
    },
    'What a device reported while Node-RED was down, or the broker away for a moment or longer, nobody has heard, so that each has one usual interval left, once until it is heard; nor does the first minute count after each time the broker was away, up to 15 minutes in all.':
      {
        'network/broker-outage': [
          'of … s tells no device of … minutes whose report fell into it, with … s',
          'makes a gateway not silent that needs 55 seconds to come back',
          'that comes five times after … s each makes nobody silent who is back … s after the last, with … s',
          'hides a gateway that never comes back for 15 minutes more at most, however often it comes',
          'has it told a minute later, which gateways need to come back',
          'leaves it one usual interval, so that it is told that much later at most',
          'has it told no earlier where it was a second, in which a broker is started anew',
          'hides its death no longer, however often it comes, nor with restarts between',
        ],
        'network/watch-habits': ['tells no device of … minutes whose report fell into it, where … s are set'],
        'network/device-watch':
          'and tells a death also where Node-RED starts more often than its device reports',
      },
    'That a deploy, or a gateway of listed devices that is heard for the first time, has the broker asked for more, or for less, is no such time: what was granted before goes on coming.':
      {
        'mqtt/added-filters': [
          'tells a listed device in its time whose first report asks for all of its gateway, …',
          'tells a device in its time where a deploy asks for another gateway, …',
        ],
        session:
          'counts neither a deploy that asks for more or for less nor what people listen to or record as a time without the broker',
      },
    'Only what is asked for anew has its time from when it is granted; and where the broker has no room for both, so that something must be given back first, that moment counts as a time without it.':
      {
        'mqtt/added-filters': [
          'tells of no device for whose reports it has just asked, and gives it its time when that is granted',
          'spares everybody a minute where something must be given back first',
        ],
      },
    'What the broker has kept for a persistent session comes all at once: as long as an interval is not known, the pause between two reports through one gateway is the longer one of that between their arrivals and that between their times (`time`).':
      {
        'network/watch-habits': [
          'tells nothing when what came every 10 minutes was kept and comes in 13 s, and a death in time',
          'not by those of several gateways whose clocks differ',
          'and takes no time without the broker for a pause',
        ],
      },
    'Of a gateway with several devices it is the pause between reports of different ones, so that one that dies or rests makes no gateway silent.':
      {
        'network/watch-habits': [
          'tells the death of one that came every 10 s beside 1 that come every 10 minutes, with 0 s',
          'tells its own death, after three times the pause between reports of different devices',
        ],
      },
    'Pauses for which such a gateway is told silent are its habit when three of them came within 90 minutes or in a row, or six in a day.':
      {
        'network/watch-habits': [
          'tells its absences alone, where they are shorter than the pauses of its devices',
          'learns a pause that comes three times within 90 minutes',
          'hides no death behind one of 8 hours, with 0 s, and is hardly told itself',
          'learns a pause that comes six times in a day',
        ],
      },
    '**Labels.** A gateway that loses its labels, or that the device list leaves out once, is not watched any more, nor are its devices: what was told of them ends, and when it carries a label again their time counts anew.':
      {
        'network/device-watch': [
          'watches the gateways of a label from the start, and no more those that lose it',
          'misses again what was dead when it lost it, after the time of a silence',
        ],
      },
    '**What was never heard.** Listed devices and gateways, gateways with one of the labels, and what was watched before a restart are missed also when nothing of them was ever heard; where no time is set, that takes an hour.':
      {
        'network/device-watch': [
          'and misses none that was heard a few times only, unless somebody expects it',
          'watches the gateways of a label from the start, and no more those that lose it',
          'and misses who was heard before and is not any more, but not for a gateway that is not there',
        ],
        'nodes/device-watch': 'misses a device of its list, though nothing of it was ever heard',
      },
    '**A gateway and its devices.** A gateway that goes silent is one change: its devices are silent only when another gateway that has heard them as well, within the time of a silence before their last report, is still heard, or when they do not come back with it.':
      {
        'network/device-watch': [
          'as one change, and none for each of its devices',
          'where another gateway that is still there has heard the device, too',
          'and gives its devices their time anew when it is back',
          'and gives devices their time anew when their gateway comes back long after it',
          'and gives devices their time anew with a gateway that was silent before, and is back at once',
        ],
      },
    'A gateway is heard by what it brings: what another gateway hears of its radio says nothing of it.': {
      'network/device-watch': [
        'once, until it brings something, though another one hears its radio: 2 conditions',
        'and takes a gateway for none of the devices of another that hears it, first',
      ],
    },
    'What carries a label and was heard only through others is no gateway, unless it has brought reports before: list it in *Gateways* to have it watched as one.':
      {
        'network/device-watch':
          'takes no device for a gateway because it carries the label, whenever it is heard',
        'network/watch-labelled': [
          'watches it no more, and says so, where only its label says that it is one',
          'misses it over a restart: …',
          'misses it over a restart… where it was heard a few times only',
          'watches it where it is listed, though it was never heard itself',
        ],
      },
    'A gateway was away also where the two devices that it hears most often, and that came steadily, have missed two reports each: such a time is no habit of it or of its devices.':
      {
        'network/watch-habits': [
          'tells none of its quick devices silent, also where it is back before they tell its own silence',
          'tells each of its absences, and then the death of a device as soon as before',
          'learns in two pauses the night of sensors whose values change all day',
        ],
      },
    'A time in which a gateway was away is no silence of its devices, and neither is one usual interval before it, in all, as nobody has heard what they reported: so absences hide no death, however many there are.':
      {
        'network/watch-habits': [
          'hides no death of one of 20 minutes by 30 s each 110 minutes, with 7200 s',
          'hides no death of one of 20 minutes by 30 s each 50 minutes, with 0 s',
          'makes none of its devices silent where it goes again before they were to be heard',
        ],
      },
    'Where the devices that still come came as usual, the gateway may have been there all the time, and where a time is set it may have been away in a pause that is longer than usual: of such pauses only the last one counts.':
      {
        'network/watch-habits': [
          'hides no death behind one of 8 hours, with 0 s, and is hardly told itself',
          'is away once for a while that is too short to be told, and makes none of its devices silent where a time is set',
        ],
      },
    "**Several gateways.** Where no time is set, a gateway tells the later of a device's silence the fewer of its reports it brings: at half of what another one brings, after four times the time, as long as that one has brought any within four hours.":
      {
        'network/device-watch': [
          'not by that while its own is away',
          'and tells its death as soon as without that',
          'after four times the time by one that brought half as many',
          'after the time that is set',
          'within some hours where its own is gone for good, and it has died at the other one',
        ],
      },
    "After a restart, until the gateway that brought most of a device's reports has come back, and for four hours at most, the others tell nothing of its silence.":
      {
        'network/watch-habits': [
          "tells the gateway alone that stays away for … minutes, though another one brings some of its devices' reports",
          'tells a device that dies then by the others, where it is heard by them beside that gateway',
        ],
      },
    "A gateway of which this watch would tell no silence counts for four hours after it was heard last, and for the device's own time where that is longer: one outside the watch (*Gateways*, *Labels*), one that was forgotten, and one that was not heard often enough; after that the others tell the silence of its devices, or these are told silent by themselves.":
      {
        'network/watch-scope': [
          'tells it silent four hours after the other one was heard last, and its return',
          'tells nothing while that is away for an hour, and then its death',
          'tells it with its own gateway, where that is away until then, after it',
          'counts on the gateways of before as long as labels are not known',
        ],
        'network/watch-waits': [
          'which it was stored with, and which is none of the watch after that, is told after four hours, with … s',
          'and forgotten is told after four hours, also over a restart, with … s',
          'is told where a person has once seen it listed by a gateway that is none of the watch',
          'is told after four hours where the gateway was not heard often enough to be told silent',
          'is told after four hours, where it is listed, when the gateway has lost its label',
        ],
      },
    'Where *Gateway silent* is not chosen, each device is silent by itself, whatever its gateway does: nothing else would tell it.':
      {
        'network/watch-waits': [
          'is told by itself, since nothing else would tell that, and is over with its next report',
          'is told by itself also when its gateway was forgotten, or was away over a deploy or a restart',
        ],
      },
    'How many devices a gateway brings, which further gateways hear a device, and which share of its reports, is known from the start of Node-RED on: after the first few reports nobody can tell that yet.':
      'explains',
    'A share is one of about the last hundred reports; of a gateway that has come since, as one that replaces another does, it is one of those since then.':
      {
        'network/device-watch': [
          'not by that while the one that has replaced its own … hours ago is away',
          'within some hours where its own is gone for good, and it has died at the other one',
        ],
      },
    "**A gateway with one device.** Of a gateway that brings a single device, both are told; also where others have not come by it for four hours, and for longer than the device's own time, before that was heard last.":
      {
        'network/device-watch': [
          'and tells both where it brings nothing but that one device',
          'and tells both where a second device …, four hours before the one that is left was heard last',
          'and tells the gateway alone, where a second device was heard within four hours',
        ],
        'network/watch-habits': 'tells also the only device that it brought, where neither comes back',
      },
    '**What does not count.** Time without the broker does not count, and neither do retained reports.': {
      'network/device-watch': 'not for a time in which the broker was away',
      'nodes/device-watch': 'does not take a retained report for a sign of life',
    },
    'Before somebody is told silent, a broker from which nothing has come for two seconds is sent a ping: until it answers, or without *Keep alive* for 90 seconds, only the time until the last packet and two seconds more count.':
      {
        'mqtt/dead-connection': [
          'tells nobody silent before the broker has shown that it is there, and counts no time without it',
          'tells what is silent in time where the broker is there and has nothing to send',
          'does not wait for ever where no keep alive ends the connection',
        ],
        'network/network-state':
          'not counting the time in which the broker did not show that it was there, also once it is found lost',
      },
    'Nor does time in which flows hold up the broker: ten reports of QoS 1 or more wait for an *ack report* node, and none has come for a second.':
      {
        'mqtt/confirm-silent':
          'does not take for silent what the broker holds back, and does when it holds back nothing',
        'reports/open-reports':
          'hold up the broker when nothing comes while ten are open, however many once were',
      },
    'A broker that allows fewer at a time (`max_inflight_messages` of Mosquitto, `mqtt.prefetch` of RabbitMQ) looks silent then, so leave these at ten or more.':
      'advice to the user',
    'Where a flow has so many open all the time, a silence is told later.': {
      'reports/open-reports':
        'hold up the broker when nothing comes while ten are open, however many once were',
    },
    'Of what the broker refuses to send nobody is silent; their time counts anew when it is granted.': {
      'mqtt/refused-watch': [
        'tells that another device is silent all the same: …',
        'tells of nobody whom it cannot hear, and gives them their time when it can: …',
      ],
      'network/device-watch': [
        'not for a time in which the broker refused its reports, and anew after that',
        'of whom the broker refuses no report, however often it is asked again for others',
        'not before its time after a deploy with which the broker grants what it had refused',
        'by one of two gateways whose reports are not refused',
      ],
      'nodes/device-watch': 'does not take for silent what the broker refuses, and says so',
    },
    '**Over deploys and restarts.** What was told goes on over a deploy, and with *Remember in* (`remember`) over a restart: nothing is told twice, what has ended meanwhile is told, and what nobody knows yet after a restart ends nothing.':
      {
        'network/device-watch': [
          'telling nothing twice, and what has ended meanwhile',
          'tells what has ended meanwhile, and no end of what nobody knows yet',
        ],
        'nodes/device-watch': 'goes on over a deploy of the node, and tells nothing twice',
        'e2e/remember': 'tell nothing twice, and tell what has ended meanwhile',
      },
    'What a deploy takes out of the watch, a condition, a device or a gateway, ends when flows run again, and so does what has no room any more.':
      {
        'network/watch-deploys': [
          'ends with a deploy that takes away a condition, once flows run, however many deploys that takes',
          'ends with a deploy that takes away a device, once flows run, however many deploys that takes',
          'ends with a deploy that takes away a gateway, once flows run, however many deploys that takes',
          'ends with a deploy that takes a device off the list of which nothing was ever heard, and names gateways',
          'ends where a deploy leaves no room for it',
        ],
        'network/device-watch': 'ends what a store has and its list has not',
        'network/watch-turns': [
          'that wait when flows are replaced go out when they run again, through the next watch',
          'go out a turn later where their node has only just begun, also by what it is told of labels',
          'that a deploy of more than 20 s held back go out with its end, and not after what is true by then',
        ],
      },
    'What was told is in the store a second later, where the last write took more than 50 ms twenty times as long later, and after 30 seconds at the latest; a kill in between, or before such a store as *localfilesystem* has it on disk (`flushInterval`), has it told twice, or not its end.':
      {
        'network/device-watch': 'has a store hold soon what is told, and what has ended',
        'nodes/value-memory':
          'is written a second after a watch has told something, and later where the last write took long',
      },
    'What waits to be told when Node-RED stops is told after the start, but for the end of what has left the watch.':
      {
        'network/watch-turns': [
          'that wait when Node-RED stops go out after the start: what has begun once more begins',
          'that wait when Node-RED stops go out after the start: what has ended ends',
          'that wait when Node-RED stops go out after the start: what has ended ends, whatever had told of it',
          'that wait when Node-RED stops go out after the start: what has ended and begun anew goes on',
        ],
      },
    'A sample that comes late ends no error.': {
      'network/device-watch': 'with the errors that only late samples have followed: they say nothing of now',
    },
    'So it does over a deploy that takes longer than reports wait, that leaves the watch *invalid*, or that disables it or its flow, until one in which it works or is removed; the time of what is not told yet counts anew then.':
      {
        'network/watch-deploys': [
          'goes on over a deploy …',
          'and ends when that is over',
          'and a death meanwhile is told',
          'makes nobody silent whom the invalid watch has not heard',
          'stays in the store while the watch is invalid',
          'stays there also where the watch is invalid from the start on',
          'and is forgotten when the invalid watch is removed',
        ],
        'nodes/device-watch': [
          'tells nothing twice when a deploy disables it and a later one enables it',
          'tells nothing twice when a deploy disables its flow and a later one enables it',
          'forgets what it has told when a deploy removes it',
        ],
      },
    'The store holds 10 000 devices of all watches of a service, those that need somebody first.': {
      'network/device-watch': 'of so many devices at most, first of those that need somebody',
    },
    'While flows are replaced nothing is told.': {
      'network/device-watch': 'telling nothing while flows are replaced',
    },
    '**Many devices.** There is one timer for all watches of a service, and none while nothing can change.': {
      'network/device-watch': [
        'no timer while nothing can change, however many watch',
        'no timer while the broker refuses all that could be silent, over a deploy too, until it grants that',
        'no look after look at a gateway in update mode, while nobody is there who could hear it',
        'no look after look at such a gateway either while the broker refuses what it brings',
      ],
    },
    'Of very many devices that are silent at once each is one message, in their order, 100 in a turn at most, so that flows and reports have theirs in between.':
      {
        'network/device-watch':
          'a message for each of 20 000 devices that are silent at once, in their order, in many turns',
      },
    'So it is with very many conditions that end at once, as with a condition that a deploy takes out, or with a label.':
      {
        'network/watch-turns': 'tell the ends of very many conditions … in turns, in their order',
      },
    'All watches of a service look after 400 000 gateways and devices; beyond that those go first whose gateway has lost its labels, then those that were heard fewer than five times and are expected by nobody, first of them those that need nobody, and of the others what was told ends; what is left out is told once.':
      {
        'network/device-watch': [
          'no more memory than for its bound in a flood of new devices, and keeps who was there',
          'no place for good of those that need somebody, were heard a few times and are expected by nobody',
          'and what has left takes up room, and gives way to what is new in its watch',
        ],
      },
    'What was watched before a restart and finds no room is told with its number, and what was told of it ends.':
      {
        'network/stored-watches':
          'as far as there is room: it says how many find none, and what was told of them ends',
      },
    '**What is subscribed.** Where devices are listed, everything is received that their gateways bring, which tells a silent device from a silent gateway; with more than 100 gateways, everything.':
      {
        'nodes/device-watch': 'hears all that the gateways of its listed devices bring',
      },
    'So it is after a deploy or a restart from the start, for all gateways that had brought one before; while labels are not known, for those that carried one.':
      {
        'network/watch-follow': [
          'also one by which its device has come once',
          'so that a death is told in time, whichever gateway has heard the device last',
          'while labels are not known, those that carried one before',
          'and none that lacks the label, until it carries it',
        ],
        'reports/watch-subscriptions': [
          'hears all that the gateways of before bring after a deploy…',
          'hears all that the gateways of before bring after a restart…',
        ],
      },
    'A gateway that is listed as a device is received as one once it has brought anything that this service receives, and until then by its own reports alone: one that brings reports of others only belongs under *Gateways*.':
      {
        'reports/watch-subscriptions': [
          'asks for nothing else of a listed device of which nobody knows that it is a gateway',
          'hears all that one brings that is listed itself, once it has brought anything for anybody',
        ],
        'network/watch-follow': [
          'while it is watched',
          'or before',
          'and none that lacks the label, until it carries it',
          'and takes one that is listed and brings others only for one after a deploy, too: …',
        ],
      },
  },
  'Requests: how each one ends': {
    'Where a flow keeps the processor busy beyond one, the response that has come meanwhile is read first; five seconds later at most the request ends without one, as far as the flow lets anything happen.':
      {
        'mqtt/slow-flow':
          'costs no request whose response has come while it worked for longer than that had time',
        'mqtt/deadlines': 'is looked at also where it stays so',
      },
    'Each of these times is longer by as much as flows were behind with reports of QoS 1 in it, 5 minutes at most; what was before it does not count.':
      {
        'mqtt/waiting-requests': [
          'wait longer by what holds up reports since then',
          'wait no longer for what has held up reports before the broker has acknowledged the last one',
        ],
      },
    'A request is sent once.': {
      'mqtt/losses':
        'that a lost connection interrupts is sent once, and its response may come over the next one…',
    },
    'It is never sent again by this package, because writing twice may not be the same as writing once.': {
      'mqtt/losses':
        'that a lost connection interrupts is sent once, and its response may come over the next one…',
    },
    'response with status 0 | the response': {
      'nodes/requests': 'gives the decoded value, the whole response and where it came from',
    },
    'response with another status | `REQUEST_FAILED`': {
      'nodes/errors':
        'REQUEST_FAILED with its cause and the message when the status of the response is not 0',
    },
    'response that is not JSON, has no status, or is larger than 1 MB | `BAD_RESPONSE`': {
      session: 'parses no response that is larger than any is',
      'nodes/errors': [
        'BAD_RESPONSE with its cause and the message when a gateway answers with something else than JSON',
        'BAD_RESPONSE with its cause and the message when a response has no status',
      ],
    },
    'no response within the timeout, counted from sending; while a deploy holds a report, nothing is read, and the timeout counts anew once answers are read again | `TIMEOUT`':
      {
        session: 'ends a request without a response with TIMEOUT, and one that failed with REQUEST_FAILED',
        'mqtt/losses': [
          'may wait for its turn longer than its timeout says, which counts from sending',
          'has its response although a deploy holds a report before it for longer than the timeout',
        ],
        'mqtt/waits': [
          'for … are anew once a deploy that has held a report lets go of it',
          'are no longer for a request during the next deploy when the connection was lost while one held a report',
        ],
      },
    'the broker is away for the whole timeout, counted from arrival, or does not confirm the subscription to responses in this time; it counts anew, too, after a deploy has held a report | `NOT_CONNECTED`':
      {
        session: 'ends a request with NOT_CONNECTED when the broker stays away for the whole timeout',
        'mqtt/waiting':
          'says that the subscription to the answers was not confirmed, and not that the broker is away',
        'mqtt/confirm-requests': 'end where the broker does not confirm it in their time',
        'mqtt/waits': [
          'are no longer for queries for old values that wait for others at their gateway while the broker is away',
          'begin with the loss for queries that wait for others at their gateway when the broker goes away',
          'for … are anew once a deploy that has held a report lets go of it',
          'begin with the loss for a request when the broker goes away while a deploy holds a report',
        ],
        'mqtt/losses': '… has its response although a deploy holds a report for longer than the timeout',
      },
    'the broker takes few unacknowledged publishes and acknowledges none for the whole timeout, counted from arrival, from the last acknowledgement or from when answers are read again after a deploy, whichever was last | `NOT_CONNECTED`':
      {
        'mqtt/broker-limits': [
          'though it takes … at a time keeps no request waiting for ever',
          'has its whole time for the next acknowledgement, counted from when it came',
        ],
        'mqtt/losses': '… has its response although a deploy holds a report for longer than the timeout',
        'mqtt/waits': 'for … are anew once a deploy that has held a report lets go of it',
      },
    'the broker refuses the subscription to responses, or the request, or ends the connection when such requests are sent | `NOT_CONNECTED`':
      {
        'mqtt/forbidden-publishes': 'end with the reason from the second on, and all others go on',
        'mqtt/connection': 'tells that the broker refuses a subscription, and ends requests that need it',
        'mqtt/losses': 'that the broker refuses ends with NOT_CONNECTED',
      },
    'the connection breaks after it was sent | waits on; the response may come over the next connection, else `TIMEOUT`':
      {
        'mqtt/losses': [
          'that a lost connection interrupts is sent once, and its response may come over the next one…',
          'that a lost connection interrupts ends with TIMEOUT when no response comes',
        ],
      },
    'too many are waiting (`maxQueue`, 1000 in all) | `QUEUE_FULL`': {
      'nodes/service-properties': 'maxQueue limits the requests that wait',
      'mqtt/waiting':
        'are 100 000 acknowledgements at most, and as many requests as maxQueue says to all gateways together',
      'docs/promises': 'gives the defaults of settings that it names',
    },
    'the node is deployed again or stopped | `CLOSED`': {
      session: 'ends everything that is waiting with CLOSED when its node closes, and nothing else',
      'nodes/errors': 'CLOSED without details, and the message, when the node is stopped meanwhile',
    },
    'Per gateway `maxInFlight` = 8 requests are under way at a time.': {
      'mqtt/losses': 'is one of 8 to its gateway, whatever others have under way',
      'docs/promises': 'gives the defaults of settings that it names',
    },
    'The others wait by priority, then by age.': {
      session: 'sends no more than maxInFlight at once, then by priority and age',
    },
    'Waiting in this line does not count towards the timeout.': {
      'mqtt/losses': 'may wait for its turn longer than its timeout says, which counts from sending',
    },
    'A request that is one of the eight and waits only until the subscription to the responses is confirmed does not count towards `maxQueue`.':
      {
        'mqtt/waiting':
          'do not count towards maxQueue where they wait for the subscription to their responses alone',
      },
    'Where one too many waits, the newest one of the lowest priority ends at the gateway where most wait, its own where as many do there: a gateway that does not answer keeps no place from others, nor polling, at one gateway, from a request of a higher priority.':
      {
        'mqtt/waiting-requests': 'keep no place from those of a higher priority at their gateway',
        'mqtt/waiting': [
          'at a gateway that does not answer make room for those at others: first the newest of the lowest priority',
          'count by their number, whichever of them wait for the subscription to their responses alone',
          'that are pushed out cost about as much as those that are refused, at 10 000 gateways',
        ],
      },
    'No request, acknowledgement or call overtakes an earlier one of its node because a field of that comes from a context store that takes its time, or from an expression.':
      {
        'nodes/in-order': [
          'are sent in the order in which they came',
          'are acknowledged in that order, whether a report brings the sample or fields do',
          'keep that order over the actions of one node',
        ],
      },
    'The values of its fields are those that it came with, whatever the flow changes meanwhile; an expression reads the rest of the message when it is evaluated.':
      {
        'nodes/in-order': 'are written as they came, though the flow changes the object meanwhile',
      },
    'Where such a source does not answer within 5 seconds, the message ends with `INVALID_INPUT`; up to 100 000 wait at a node, more end with `QUEUE_FULL`.':
      {
        'nodes/in-order': [
          'fail where the store of a field does not answer, and hold up nobody',
          'is 100 000 at most: one more fails, and keeps no place',
        ],
      },
    '**Request that ends the connection.** Some brokers, such as RabbitMQ and AWS IoT, end the connection where a user may not send a request, with QoS 1 or 2 before they acknowledge it.':
      'about the broker',
    'After the first connection that ends so within five seconds, requests leave one by one for up to a minute, and again with each connection for an hour, and when one comes that was under way then or may be forbidden with it, so that it is known which one it is; one that is not acknowledged within five seconds holds up no others.':
      {
        'mqtt/forbidden-requests':
          'are in doubt after a connection that ended behind them, which lets all leave one by one for an hour',
        'mqtt/forbidden-publishes': 'are found among many that are under way, none of which is taken for one',
        'mqtt/request-trials': [
          'leave so for a minute at most, and when one of those comes again',
          'wait for one that the broker never acknowledges for five seconds',
        ],
      },
    'After the second one requests of this topic end at once.': {
      'mqtt/forbidden-requests':
        'are alone those of their topic where the broker has taken another one of the operation at the gateway',
      'mqtt/forbidden-publishes': 'end with the reason from the second on, and all others go on',
    },
    'Once some are known, each next attempt after such an end comes after 0.2 to 0.3 seconds.': {
      'mqtt/forbidden-publishes':
        'are found quickly at one gateway after the other, while another one is asked that takes them',
    },
    'So do all of the operation at a gateway after two in a row there, or three where one was taken before, and at all gateways where it was never taken: after three in a row, or where it is forbidden at two, where it was taken at none, else after five in a row that none of these gateways has interrupted by taking one.':
      {
        'mqtt/forbidden-requests': [
          'are all of the operation at the gateway where it has taken none, of which others are tried first',
          'are known after two of an operation at a gateway that has taken none, whatever their devices are',
          'are all of an operation at a gateway again after three in a row, though some were taken before',
          'are known after three of an operation that no gateway has taken',
          'are none of an operation at gateways where it was taken, however many others end connections',
          'are all of the operation at two gateways where it was taken at none, and one that is taken frees the others',
          'are not those of all gateways where the broker has taken one before, however long ago',
          'are those of all gateways that have taken none after five in a row, and none of one that has',
        ],
        'mqtt/forbidden-publishes': 'are found where a flow asks one device after the other',
      },
    'One of them is sent to see after a minute, doubling to half an hour, the same one to two hours, each in its turn: one that is asked for at least every two hours goes before those that have waited for a shorter time.':
      {
        'mqtt/forbidden-requests': [
          'are tried after 1, 2, 4 … 120 minutes, one at a time, and alone blamed for what follows',
          'cost a connection each half hour at most, however many they are, and one topic every two hours',
          'have their turns in order: one that is asked for once an hour goes before those that are every minute',
        ],
        'mqtt/forbidden-publishes': 'are sent again later, and go on when the broker takes one',
      },
    'When its turn has come, nothing else leaves until what is under way is answered, and then until the broker has acknowledged it, each for five seconds at most.':
      {
        'mqtt/forbidden-publishes': [
          'are tried when those before them in a batch have their responses',
          'hold up very many others only until what is under way is answered, and leave alone',
          'hold up no others while they wait for their turn at a gateway that is silent',
        ],
        'mqtt/request-trials':
          'wait for what has no response for five seconds, and so long for that one to be acknowledged',
      },
    'Of those that have ended no connection themselves one is sent every ten minutes at least, in the order in which they come, and those of gateways that had none yet take turns of their own: some 14 connections an hour at most, however many are forbidden.':
      {
        'mqtt/forbidden-requests': [
          'let one that has ended no connection be tried within ten minutes, however often others are asked for',
          'let a gateway that had no trial yet be tried within ten minutes, however many others have been',
          'cost 14 connections an hour at most, however many gateways, operations and topics are forbidden',
        ],
      },
    'Each address of a list is known by itself.': {
      'mqtt/request-trials': 'are not those of another broker of the list',
    },
    'Where something larger than 1 000 characters was under way, or something that was sent earlier, nothing is concluded.':
      {
        'mqtt/forbidden-requests': [
          'are none where it may have been the size of one',
          'are none where something was sent more than five seconds before: the connection was dead',
        ],
      },
    'With QoS 0 (`requestQos`) nothing is known of what the broker has taken, and each such request costs a connection.':
      'about MQTT',
    'A request without a gateway goes to the one that hears the device best, by the signals of the last five minutes, or to the one that reported it last where there are none.':
      {
        'network/network-state': [
          'the one that heard the device last, where no signal is known',
          'the one with the best signal, though another one has heard it since',
          'not another one for a difference that comes and goes',
          'not by a signal of long ago, nor through a parent that cannot reach the device',
        ],
      },
    'A gateway that has brought nothing of the device for its usual interval and a minute more, while another one has, is not asked: it may have died.':
      {
        'network/network-state': [
          'not one that has brought nothing of it for more than a minute in which another one has',
          'one that may bring the next report of a device that reports seldom, and not one that has missed it',
          'by the signal of a node that is heard with pauses, as long as its gateway brings anything',
        ],
      },
    'What is a gateway itself is asked itself, whoever hears it.': {
      'network/network-state': [
        'one for a gateway itself to that gateway, however well another one hears it, where it may be asked',
        'one for a gateway that brings something seldom to itself, whoever hears it meanwhile',
      ],
    },
    'Only when it has brought nothing for three of its usual intervals, five minutes at least, or for an hour where its interval is not known yet, and another gateway has heard it since, it is a device of that one, as one that was made an extender.':
      {
        'network/network-state': [
          'one for what was a gateway once to the one that reports it now',
          'one for what was a gateway once as soon as three of its usual intervals are over, where they are known',
          'one for a gateway to itself after an outage of the broker, until it is back',
        ],
      },
    'Acknowledgements wait in a line of their own, up to 100 000, and leave in order.': {
      'mqtt/waiting':
        'are 100 000 acknowledgements at most, and as many requests as maxQueue says to all gateways together',
      session: 'acknowledges a sample once and in the order of the samples',
    },
    'Where one too many waits, the newest at the gateway with the most of them ends with `QUEUE_FULL`, as with requests.':
      {
        'mqtt/waiting':
          'of acknowledgements at a gateway that answers none make room for those at others, the newest first',
      },
    'They take at most half of the places, so a long backfill does not block requests, and always have one, so requests do not block it.':
      {
        'mqtt/send-queue': [
          'keeps acknowledgements in order and leaves half of the places to requests',
          'lets an acknowledgement through while requests would take every place',
        ],
      },
    'After one that has ended with `TIMEOUT`, where the gateway has answered no other since that was sent, those to this gateway take no place any more while they wait for their response, up to 256 at a gateway and 10 000 in all, until it has answered one, in time or late: so few wait in line for those that are never answered, and a gateway that is only slow, or has lost one, does not get all of them at once.':
      {
        'mqtt/acknowledgements':
          'wait for each other, but not after one has ended with TIMEOUT, until the gateway answers one',
        'mqtt/waiting': [
          'keep their place beyond 256 at a gateway that answers no acknowledgement',
          'keep their place beyond 10 000 in all, at gateways that answer no acknowledgement',
          'keep their place where the gateway has answered one since that was sent which it has not answered',
          'keep their place again once the gateway has answered one too late',
        ],
      },
    'Where 1 000 wait at a gateway that has answered none for as long again, which counts anew as well after a deploy has held a report, a further one whose response a node waits for ends with `QUEUE_FULL`; its device sends the sample again.':
      {
        'mqtt/waiting': [
          'are 1 000 acknowledgements at most at a gateway that answers none, as long as somebody waits for each',
          'may be more than 1 000 acknowledgements at a gateway that could not be heard while a deploy held a report',
        ],
      },
    'The same sample acknowledged again within a minute is sent once, unless the first time failed.': {
      'mqtt/acknowledgements': 'is sent again after a minute, and not before',
      session: 'acknowledges again what failed the first time',
    },
    'A node that waits for the response gets the one to the first acknowledgement, also when the first node did not wait.':
      {
        'mqtt/waiting':
          'is sent once, and the second one waits for the response that the first one did not wait for',
      },
    'Up to 100 000 messages wait for the acknowledgement of another one, more end with `QUEUE_FULL`.': {
      'mqtt/acknowledgements': 'are 100 000 at most',
    },
    'Each of them has its own time, which counts anew as that of a request does; after a `TIMEOUT` one of them sends the sample again, and has its time anew.':
      {
        'mqtt/acknowledgements': [
          'end in their own time, although the next in line sends it again after each TIMEOUT',
          'have its outcome although a deploy holds a report before it for longer than their timeout',
        ],
      },
    'A response without `id`, or with an `id` of null, or that is not JSON, belongs to a request only when it is the only one under way on that topic.':
      {
        'mqtt/waiting': 'is ours with the id …, when only one request is under way',
        session: 'takes a response without id, or one that is not JSON, for the only request on that topic',
      },
    "One with any other `id` is somebody else's.": {
      'mqtt/waiting':
        'is not ours with an id that is not, a number included, although only one request is under way',
    },
    'So is one with the right `id` that comes from another gateway.': {
      'mqtt/waiting': 'is not ours when another gateway sends it, though it has seen our id',
    },
    'A response that comes after the end of its request is ignored, but one to an acknowledgement shows that the gateway answers some.':
      {
        'mqtt/losses': 'is not ended by a response to an earlier one that has ended',
        'mqtt/waiting': 'keep their place again once the gateway has answered one too late',
      },
    "Tip: a broker that leaves Nagle's algorithm on adds about 40 milliseconds to each request with QoS 1.":
      'advice to the user',
    'With `persistent`, what a lost connection or a deploy has interrupted of a request with QoS 2 (`requestQos`) is completed with the next connection to that address, without sending it again, and given up after three: some brokers pass the request on only then, perhaps after its `TIMEOUT`.':
      {
        'mqtt/exchanges': [
          'is completed when … is lost with the connection, and no request is sent again (MQTT …)',
          'is completed after a deploy',
          'is given up when the third connection ends that would complete it',
        ],
        'real-brokers/mosquitto':
          'of unacknowledged messages answers requests with QoS 2 after those that a deploy has interrupted (MQTT …)',
      },
    'Mosquitto does by default; `set_tcp_nodelay true` in its configuration switches it off.':
      'about the broker',
  },
  'REST calls: how each one ends': {
    'GET, PUT, DELETE and the login are repeated after 429, 502, 503, 504 and network faults, `httpRetries` = 3 times, with waits from half a second that double.':
      {
        'rest/client': [
          'repeats … after 429, 502, 503 and 504, at most as often as the settings say',
          'repeats … after network faults, httpRetries times',
          'repeats the login after …, httpRetries times, and says HTTP_ERROR in the end',
          'waits longer each time',
        ],
        'docs/promises': 'gives the defaults of settings that it names',
      },
    '`Retry-After` is honoured, with up to an eighth on top; one longer than 2 minutes ends the call at once, with a text that says how long it is.':
      {
        'rest/client': [
          'waits as long as Retry-After asks, …',
          'ends a call at once when Retry-After is longer than 2 minutes, and waits for one of 2 minutes',
          'says how long the service asked to wait where that is why a call ended, or was not sent',
        ],
        'rest/retry': 'come up to an eighth later than Retry-After asks, at random',
      },
    'POST and PATCH are repeated only after 429 or 503 *with* `Retry-After`, so never after a lost answer.': {
      'rest/client': 'repeats … after 429 or 503 with Retry-After only, so never after a lost answer',
    },
    "Where a flow, or the machine, holds up everything beyond the end of a call's time, the response that has come meanwhile is read first, for a second at most.":
      {
        'rest/http': 'takes a response that came in time while the process was held up beyond the end of it',
        'collections/patient-timer': 'calls … s later where it was held up for … ms',
      },
    'When the response to a DELETE was lost (a network fault after it was sent, 502, 504, or 503 without `Retry-After`) and the repeated one is answered with 404 or 410, and not with a web page or what proxies say of a service that they do not know, it is done: the call succeeds, a free request with status 204.':
      {
        'rest/client': [
          'takes a DELETE for done when its first response was lost (…) and the next is …',
          'takes a DELETE for done when its first response did not come in time and the next is 404',
          'reports a 404 of a proxy that knows no service, after a lost DELETE: …',
          'takes a DELETE for done when the service says in words that it finds nothing',
        ],
      },
    'A certificate that is not accepted is not tried again, nor are files in *TLS settings* that cannot be used, nor a proxy that refuses the connection or its login, or opens no tunnels (one that ends the connection without an answer, or answers with 408 or 429, is asked again), nor a call that is answered with `100 Continue`, which this package never asks for.':
      {
        'rest/probe': 'does not try a certificate again that was not accepted',
        'faults/tls': 'tells … as a fault of this side, which asks nobody',
        'proxy/rest': 'are …tried again after …',
        'rest/client':
          'says so once when a login or a call is answered with 100 Continue, for which nobody has asked',
      },
    'Through a proxy, the time of a call (`httpTimeout`) is also that of the tunnel.': {
      'proxy/rest': [
        'end after the time of the whole call when the proxy never answers',
        'end after the time of the whole call when the tunnel is open and the service never answers',
      ],
    },
    'When the service is closed, tunnels end at once, open or not.': {
      'proxy/rest': [
        'end at once with CLOSED while the tunnel is being opened, and leave no connection behind',
        'end with an open tunnel when they are closed',
      ],
      'proxy/broker': 'ends at once while the proxy is silent, and leaves no connection behind',
    },
    '`Retry-After` of one 429 or 503 holds for everything that goes to the same host, the login among it: nothing is sent there until then, and waiting for it is no attempt.':
      {
        'rest/client': [
          'sends nothing else, no login either, until the Retry-After of one … is over',
          'gets any number of calls through at a service that allows ten a second',
        ],
      },
    'While it is longer than 2 minutes, all of these calls end at once as that one did, with a text that says that they were not sent; after 5 minutes the service is asked again, whatever it said.':
      {
        'rest/client': [
          'does not ask again while Retry-After is longer than a call waits, and asks after 5 minutes whatever it was',
          'says how long the service asked to wait where that is why a call ended, or was not sent',
        ],
      },
    'At most 4 calls run at a time, the login among them.': {
      'rest/client': 'makes at most 4 calls at a time',
    },
    'A call that waits for a retry or for the login is none of the four, and goes ahead of new ones afterwards.':
      {
        'rest/client': [
          'lets other calls through while four wait for a retry',
          'repeats a call ahead of new ones after its wait',
        ],
      },
    'Up to 10 000 calls wait, whatever for; more end with `QUEUE_FULL`.': {
      'rest/client': [
        'lets 10 000 calls wait behind the four, also those that wait for a retry, and refuses more',
        'lets 10 000 calls wait for a login, and refuses more',
      ],
    },
    'Its changes of any other path keep their order, too.': {
      'rest/order':
        'of one path keep their order, whatever the method, and do not wait for those of another or for a GET',
    },
    'Renames and label removals of one device are sent one after the other, in the order in which they came, and so is what *service request* changes below the path of the device.':
      {
        'rest/order': [
          'keep their order also where a free request makes them, by any spelling of the path',
          'do not overtake one that is repeated, so the last name wins',
          'do not wait for those of another device',
        ],
      },
    'A later one waits until the earlier one has ended, with all its retries.': {
      'rest/order': [
        'do not overtake one that is repeated, so the last name wins',
        'follow one that has failed for good',
      ],
    },
    'So the last name wins.': {
      'rest/order': 'do not overtake one that is repeated, so the last name wins',
    },
    'A call whose token ends while it waits for its turn gets a new one before it is sent.': {
      'rest/client': ['sends no call with a token that has ended while it …'],
    },
    'A 401 is answered by one new login and one new attempt.': {
      'rest/client': 'logs in once more on 401 and repeats the call, also a POST',
    },
    'What is still 401 then is `HTTP_ERROR`.': {
      'rest/client': 'reports a 401 that stays as HTTP_ERROR',
    },
    'Eight of these in a row with a token that was good before end that token too, and the calls behind them get a new one; while logins pause so do eight that are refused at once, but once in five minutes only.':
      {
        'rest/auth': [
          'that was good is dropped after eight second attempts in a row that were refused',
          'that was good is dropped so also while logins pause, as a path that always answers 401 has it, once in five minutes',
        ],
        'rest/client':
          'gets a third token for a line of calls during which the first and the second are revoked',
      },
    'After two fresh tokens in a row that were answered with 401, nobody logs in for 10 seconds, doubling to 5 minutes; calls go on with the token that is there.':
      {
        'rest/auth': [
          'is not got again for 10, 20 … 300 s when two fresh ones were refused in a row',
          'is used beyond its end while nobody may log in, but not when it was accepted',
        ],
      },
    'So a service that answers everything, or one path, with 401 is not flooded with logins.': {
      'rest/client': [
        'does not log in again and again at a service that answers every call with 401',
        'goes on with a token that one path refuses and others accept, without a login for each call',
        'logs in for one call that is refused, not for each that waits behind it',
      ],
    },
    'Where a login ends the token of the one before, two users of one account would end each other’s with every call: after three tokens in a row that worked for less than 30 seconds, each of which a login has replaced with success, a login waits for 1 second, doubling to 10, and so do the calls that need it.':
      {
        'rest/auth':
          'that worked for less than 30 s, three in a row, has the next login rest for 1, 2 … 10 s',
        'rest/client': [
          'rests before a login, longer each time, where another user of the account ends its token with every login',
          'does not rest for a path that is always refused, nor for tokens that had ended before others that lasted',
        ],
      },
    'After a refused login all calls fail at once with `LOGIN_FAILED`, without asking the service, for 10 seconds, doubling to 5 minutes.':
      {
        'rest/auth':
          'waits after refused logins 10, 20, 40 … 300 and 300 s, and from 10 s again after one that succeeded',
        'rest/client': 'does not ask again for a while after a refusal, and recovers by itself later',
      },
    'So a wrong password is sent ten times in half an hour at most, and a corrected one at the service recovers by itself; where the service locks an account sooner, disable the service node until the password is right.':
      {
        'rest/client': 'does not ask again for a while after a refusal, and recovers by itself later',
        'rest/auth':
          'waits after refused logins 10, 20, 40 … 300 and 300 s, and from 10 s again after one that succeeded',
      },
    'So it is, with `HTTP_ERROR`, after a login that ends with another status about the account, such as 423 (locked).':
      {
        'rest/auth': [
          'waits after a login that ends with status …',
          'does not wait after a login that ends with status …',
        ],
      },
    'A change of the settings tries at once.': {
      'rest/client': 'tries at once after a refused login when the settings are changed',
    },
    'Redirects are never followed: the token goes nowhere else.': {
      'rest/client': 'does not follow a redirect, so that the token goes nowhere else',
    },
    'A response larger than 16 MB is `BAD_RESPONSE`, and so is a page of the device list with more than 100 000 items, whatever page size was asked for.':
      {
        'rest/client': 'refuses a response of 100 MB as BAD_RESPONSE without reading it to its end',
        'rest/pages': 'takes a page of 100 000 items, and refuses one with more as BAD_RESPONSE',
      },
    'A page with more devices than were asked for is taken.': {
      'rest/pages': 'takes a page of 100 000 items, and refuses one with more as BAD_RESPONSE',
    },
    'A response that is compressed with gzip, deflate or Brotli, though nobody asks for that, is read; the 16 MB are those of what comes out.':
      {
        'rest/http': 'reads a body that is compressed as … without being asked, and cuts it by its own size',
      },
    'Its `headers` then lack `content-encoding` and `content-length`, which were those of what was sent; so do those of a text that is labelled as compressed.':
      {
        'rest/http':
          'takes encoding and length out of the headers of a body that is labelled as compressed, also where it is a text',
      },
    'One in another encoding, or without its end, is `BAD_RESPONSE`.': {
      'rest/http': [
        'names an encoding that cannot be read, and takes a text as it is whatever its header says',
        'takes no part for the whole of a body that is compressed as … and ends too early',
      ],
    },
    'A rename, and a change of labels, that is answered with success is done, whatever the body of the response, also where it breaks off.':
      {
        'rest/calls': 'takes … for done that succeeds with a body that cannot be read, or is too large',
        'rest/http':
          'has a status that counts though its body …: of a failure, and of a success whose body nobody reads',
      },
    'Of a refusal the status counts, too, though its body does not come to its end.': {
      'rest/http':
        'has a status that counts though its body …: of a failure, and of a success whose body nobody reads',
    },
    'Where devices are sent one by one, at most 100 leave the node in one turn of the event loop, also of a longer page, so that other flows go on in between.':
      {
        'nodes/rest': 'sends the devices of one long page 100 in a turn, and none after a stop',
      },
    'A device list that never ends is `BAD_RESPONSE`: its page token repeats, ten pages in a row bring only devices that came before, a thousand have none, or it has more than a million devices or pages.':
      {
        'rest/pages': 'reports a token that repeats … as BAD_RESPONSE',
        'rest/progress': [
          'is known by ten pages in a row that bring known devices with new tokens',
          'is known by a thousand empty pages in a row',
          'is known by more than a million devices',
        ],
      },
    'So is one whose second page is the first one again: the same devices in the same order, two or more.': {
      'rest/progress': [
        'is known at once by a second page that is the first one, whatever its token',
        'is refused as well where the second page, which is the first one again, is the last',
      ],
    },
    'Single devices may come twice, since a list may change while it is read.': {
      'rest/progress': 'may bring devices again that were moved from page to page, and ids that are numbers',
    },
    '**Labels.** A *report in* node with labels asks for the device list every 300 seconds (`labelRefresh`).':
      {
        'reports/label-refresh': 'comes every 300 seconds, and not earlier',
        'docs/promises': 'gives the defaults of settings that it names',
      },
    'Nodes share one list, also when they were deployed at different times.': {
      'reports/label-refresh': 'is one for all nodes, also such as were deployed at different times',
    },
    'After a rename, a label or a free request other than GET of this service a new list is fetched a second after the last one came, or as long after it as that one took; until it is there reports go on by the last known list.':
      {
        'rest/device-directory': [
          'is fetched once for very many changes, soon after the first one',
          'is fetched half of the time at most while changes go on, and once more after the last one',
          'stays as it is when it cannot be fetched after a change, and is asked for again after a pause',
        ],
        'reports/label-filter':
          'do not pass any more soon after a flow has taken the label away, and all pass until then',
      },
    'A node that is deployed later, or again, begins with the last known list.': {
      'reports/label-refresh':
        'does not make a node forget the labels that others know, when it is deployed in the time …',
      'reports/label-filter':
        'pass by the last known list when their node is deployed while the service is away',
    },
    'Until the first list is there, the newest 1 000 reports are held, also while a deploy that takes longer than 20 seconds, or that leaves their node *invalid*, has not brought it back.':
      {
        'reports/label-filter': [
          'are held up to 1 000, and up to 16 MB',
          'wait for it also over …',
          'are gone when a deploy removes their node, also one that was invalid',
        ],
      },
    'So they are over a deploy that restarts the service, also one that leaves it wrong.': {
      'nodes/held-reports': 'comes after a deploy …',
    },
    'Where their node is removed or disabled, also with its flow, or has another service then, or another broker or topic prefix, they are lost; a warning in the log says how many.':
      {
        'nodes/held-reports': 'is told in the log with its number when a deploy …',
      },
    'They were acknowledged to the broker, so they are gone when Node-RED is stopped or killed in this time.':
      {
        'reports/label-filter': 'are acknowledged to the broker while they wait',
      },
    'When the service cannot be asked later, or after a change, the last known list holds, and it is asked again after 30 seconds at the latest.':
      {
        'reports/label-refresh': [
          'comes 30 seconds after one that failed, and the last known labels hold until then',
          'tells that the list after a change cannot be read, and that it is there',
          'comes after a failure as soon as it always does, where that is sooner than 30 seconds',
        ],
      },
    '**Names.** Where the service has both halves and *Show reports with the names of their devices* (`names`) is on, reports and responses carry the names that gateways have in the device list: `deviceName` and `gatewayName`.':
      {
        'nodes/names': [
          'are fetched by themselves, and are where a person reads them in a report',
          'stand in the responses to requests and acknowledgements',
          'are not fetched, and are in no report, where the service is told so',
        ],
      },
    'The list is fetched in the background, a second after the first node of the MQTT half has started and then every 10 minutes, as long as there is such a node.':
      {
        'rest/name-refresh': [
          'are fetched a second after the first use, and every ten minutes',
          'are not fetched before somebody uses them, nor after the last one has gone',
        ],
        'nodes/names': 'are not fetched for nodes that only use the REST half',
      },
    'A list that a picker or a label has fetched meanwhile serves as well, and a deploy that leaves the service alone fetches none.':
      {
        'rest/name-refresh': [
          'come from the list that a picker has fetched',
          'are not fetched anew because flows are deployed',
        ],
      },
    'No report waits for a name: until the first list is there, reports have none.': {
      'nodes/names': 'are in no report before there is a list, and no report waits for one',
    },
    'A rename by a *rename* node counts from the next report on.': {
      'nodes/names': 'change with a rename at once',
    },
    'When the service cannot be asked, one warning in the log says so, the last known names hold, and it is asked again after a minute, doubling to 10 minutes.':
      {
        'rest/name-refresh': 'are asked for later and later while the service fails, which is told once',
      },
    'At most 2 000 pages, more of smaller ones, and 200 000 devices are read, a name is cut to 200 characters and is one line.':
      {
        'rest/device-directory':
          'reads 2 000 pages of a list, whatever their size, and says where there are more',
        'rest/device-index': 'keeps 200 000 devices as they usually are, and none beyond',
        'rest/device-names': ['is one line: …', 'is cut to 200 characters: …'],
      },
  },
  'What each status means': {
    'A new colour shows at once, up to four times in half a second; a new text at most twice a second.': {
      'nodes/status': [
        'shows a new colour at once',
        'shows a new text twice a second at most, and the last one wins',
        'does not flood the editor when messages follow one another',
      ],
    },
    'What shows when the flows start is sent once more then, since Status nodes hear nothing before.': {
      'e2e/main-job': 'lets a Status node hear what a node shows from the start on',
    },
    '`connected` | green dot | report in, read, write, ack report, last value | connected to the broker, everything is subscribed, and the last call was fine, or nothing was to do yet':
      {
        'nodes/statuses': 'show "connected" as a … … at …',
      },
    '`… · … ago` | green dot | report in | connected, and *Status shows* (`statusShows`) is set to the last report: its value, or what it was about, and how long ago it came; the age goes on every 5 seconds, from a minute on every minute, from an hour on every hour':
      {
        'nodes/statuses': 'show "… · … ago" as a … … at …',
        'nodes/last-report': 'grows old in seconds, minutes, hours and days, seldom made anew',
      },
    '`0 of … need somebody` | green dot | device watch | connected, and nothing of what is watched needs somebody':
      {
        'nodes/statuses': 'show "0 of … need somebody" as a … … at …',
      },
    '`nothing heard yet` | grey dot | device watch | connected, and nothing of what is watched was heard or is listed by its address':
      {
        'nodes/statuses': 'show "nothing heard yet" as a … … at …',
        'nodes/device-watch': 'shows how many need somebody, of how many',
      },
    '`… of … need somebody` | yellow ring | device watch | so many of so many gateways and devices need somebody':
      {
        'nodes/statuses': 'show "… of … need somebody" as a … … at …',
        'nodes/device-watch': 'shows how many need somebody, of how many',
      },
    '`ready` | green dot | list devices, rename, label, service request | nothing was to do yet, or the last call was fine; after a list, `devices found: …`':
      {
        'nodes/statuses': 'show "ready" as a … … at …',
      },
    '`working on …` | blue dot | all with an input | so many messages are being worked on or wait for their turn; not while the service waits for its next attempt':
      {
        'nodes/statuses': 'show "working on …" as a … … at …',
      },
    '`… devices` | blue dot | list devices | so many devices were listed so far': {
      'nodes/statuses': 'show "… devices" as a … … at …',
    },
    '`devices found: …` | green dot | list devices | the last list held so many devices; 0: none gets through the filters':
      {
        'nodes/statuses': 'show "devices found: …" as a … … at …',
      },
    '`connecting` | yellow ring | all | connecting to the broker or subscribing there, or logging in to the service':
      {
        'nodes/statuses': 'show "connecting" as a … … at …',
      },
    '`waiting: …` | yellow ring | all | lost or overloaded, with the reason; the next attempt follows by itself':
      {
        'rest/stopped': 'is … again, as it was before',
        'nodes/statuses': 'show "waiting: …" as a … … at …',
      },
    '`waiting for labels` | yellow ring | report in, device watch | no device list yet; reports are held, and nothing is watched but what is listed or was known before the start':
      {
        'nodes/statuses': 'show "waiting for labels" as a … … at …',
      },
    '`no gateway has this label` | yellow ring | report in, device watch | the device list is there, and no gateway carries one of the labels; what was heard only through gateways is none':
      {
        'nodes/statuses': 'show "no gateway has this label" as a … … at …',
        'rest/device-directory':
          'tells the labels that a gateway may carry from those of devices below gateways',
        'reports/label-refresh':
          'tells that no gateway has a label until a list says otherwise, or one of its reports',
      },
    '`labels out of date` | yellow ring | report in, device watch | the last known labels hold; the service could not be asked again':
      {
        'nodes/statuses': 'show "labels out of date" as a … … at …',
      },
    '`no labels, … reports lost` | yellow ring | report in | as *waiting for labels*, and more came than could be held':
      {
        'nodes/statuses': 'show "no labels, … reports lost" as a … … at …',
      },
    '`… not stored, oldest …` | yellow ring | report in | so many reports wait for an *ack report* node, the oldest for a second or longer; not while they wait for labels':
      {
        'nodes/statuses': 'show "… not stored, oldest …" as a … … at …',
        'nodes/confirm': 'comes again, marked, and the status says how many are open and for how long',
      },
    '`overloaded, … lost` | yellow ring | report in, read, write, ack report, last value, device watch | reports of QoS 0 were lost because flows are too slow':
      {
        'nodes/statuses': 'show "overloaded, … lost" as a … … at …',
      },
    '`stopped` | yellow ring | all | the service is being stopped': {
      'nodes/statuses': 'show "stopped" as a … … at …',
    },
    '`refused: …` | red ring | report in, read, write, ack report, last value, device watch | the broker refuses the login':
      {
        'nodes/statuses': 'show "refused: …" as a … … at …',
      },
    '`not subscribed: …` | red ring | report in, last value, device watch | the broker refuses a subscription by which reports of this node would come: the first one is named, of no other node':
      {
        'nodes/lifecycle':
          'names to each node what the broker refuses to this node, and nothing of what it refuses to others',
        'nodes/last-value':
          'says what the broker refuses of what it records, and that it is granted; not what it refuses to others',
        'nodes/statuses': 'show "not subscribed: …" as a … … at …',
      },
    '`login refused` | red ring | list devices, rename, label, service request | the service refuses user name or password':
      {
        'nodes/statuses': 'show "login refused" as a … … at …',
      },
    '`service fails: …` | red ring | list devices, rename, label, service request | the last call failed after all retries, with the HTTP status or the fault':
      {
        'nodes/statuses': 'show "service fails: …" as a … … at …',
      },
    '`invalid: … (…)` | red ring | all | this field of the service, the node or the message is missing or malformed, with the reason in a few words':
      {
        'nodes/statuses': 'show "invalid: … (…)" as a … … at …',
      },
    '`not connected` | red ring | read, write, ack report, last value | the last request ended with `NOT_CONNECTED`':
      {
        'nodes/statuses': 'show "not connected" as a … … at …',
      },
    '`timeout` | red ring | read, write, ack report, last value | the last request got no response in time': {
      'nodes/statuses': 'show "timeout" as a … … at …',
    },
    '`failed: … (…)` | red ring | read, write, ack report, last value | the gateway refused: its `errorMessage`, at most 50 characters of it, and its status':
      {
        'nodes/statuses': 'show "failed: … (…)" as a … … at …',
        'nodes/status': 'says why a gateway refused, as far as there is room',
      },
    '`failed: status …` | red ring | read, write, ack report, last value | the gateway refused with this status and no words':
      {
        'nodes/statuses': 'show "failed: status …" as a … … at …',
      },
    '`HTTP …` | red ring | list devices, rename, label, service request | the last call was answered with this HTTP status':
      {
        'nodes/statuses': 'show "HTTP …" as a … … at …',
      },
    '`network: …` | red ring | list devices, rename, label, service request | the last call did not reach the service':
      {
        'nodes/statuses': 'show "network: …" as a … … at …',
      },
    '`bad response` | red ring | read, write, ack report, last value, list devices, service request | the last response was not what the interface says':
      {
        'nodes/statuses': 'show "bad response" as a … … at …',
      },
    '`no value` | red ring | last value | nothing has been reported of what was asked for, or nothing young enough':
      {
        'nodes/last-value': 'reports NO_VALUE with device and property where that is wanted',
      },
    '`queue full` | red ring | all that ask | too many requests are waiting': {
      'nodes/statuses': 'show "queue full" as a … … at …',
    },
    "`error` | red ring | all | something that this package did not foresee; the error's text says more": {
      'nodes/statuses': 'show "error" as a … … at …',
    },
    '`… is not set` | red ring | all | an address of the half that the node needs comes from this environment variable alone, which is not set; or the service does, and it is not set or empty':
      {
        'nodes/statuses': [
          'show "… is not set" as a … … at …',
          'name the variable that is not set as an address of the … half: …',
          'name no mistake of the half that they do not need, where that is the only one: …',
          'name the variable that names their service and is …',
        ],
        'nodes/service':
          'is missing when a property of the subflow that names it is empty, and the error names the property',
      },
    '`no service` | grey ring | all | no service is selected': {
      'nodes/statuses': 'show "no service" as a … … at …',
    },
    '`service does not run` | grey ring | all | the selected service is disabled, or no longer there': {
      'nodes/service': 'is missing when …, and the error says so',
      'nodes/statuses': 'show "service does not run" as a … … at …',
    },
    "`no REST address` | grey ring | list devices, rename, label, service request; report in with labels | the service's REST half is empty":
      {
        'nodes/statuses': 'show "no REST address" as a … … at …',
      },
    '`no REST login` | grey ring | list devices, rename, label, service request | the service has REST addresses, but no user name or no password':
      {
        'nodes/statuses': 'show "no REST login" as a … … at …',
      },
    "`no broker address` | grey ring | report in, read, write, ack report, last value, device watch | the service's MQTT half is empty":
      {
        'nodes/statuses': 'show "no broker address" as a … … at …',
      },
    'Not in any status: a report that cannot be read (`BAD_REPORT`) and what a closing node ends (`CLOSED`).':
      {
        'nodes/errors': [
          'BAD_REPORT with topic and payload when a report …',
          'CLOSED without details, and the message, when the node is stopped meanwhile',
        ],
      },
    'Both go to Catch nodes.': {
      'nodes/errors': [
        'BAD_REPORT with topic and payload when a report …',
        'CLOSED without details, and the message, when the node is stopped meanwhile',
      ],
    },
    'The error of the last message stays until the next message.': {
      'nodes/statuses': 'keep the error of the last message until the next one',
    },
    'At *read*, *write* and *ack report* it also goes when the connection has been away.': {
      'nodes/statuses': 'forget the error of the last message to a gateway when the connection has been away',
    },
  },
  'How this is checked': {
    '`npm run test:faults` makes the faults of this page happen, to real brokers, HTTP servers and Node-RED processes: brokers and Node-RED are stopped, killed and frozen under traffic, logins and certificates refused, the REST service fails in a dozen ways, flows are deployed again and again and are given more than they can take.':
      'explains',
    'Every report and every request is counted.': 'explains',
    '`npm test` includes it, each fault a few times.': 'explains',
    '`npm run test:faults -- --long` repeats them up to a thousand times and sends ten million reports.':
      'explains',
    'What it found: [faults.md](faults.md).': 'explains',
    'What nobody thought of in this list is looked for by a model: hundreds of random sequences of these events in `npm test`, 10 000 in the long form, each checked against this page.':
      'explains',
    'Another one watches random networks over days, with deaths, absences, replacements, restarts, losses and deploys: 100 histories, and 20 000 in the long form.':
      { 'model/watch': 'tells each death in time, and of nobody who lives, in … histories' },
    'Every sentence of this page and every row of its tables stands in `test/docs/promises.ts` with the tests that hold it, or with the reason why it promises nothing; a test compares both.':
      'explains',
    'The broker is Mosquitto, and also RabbitMQ with its MQTT plugin where it is installed.': 'explains',
  },
};
