# CycleGAN's lines: losses of a batch, and the time of an epoch.
import json
import math
import os

os.makedirs("log/horse2zebra")
names = "D_A", "G_A", "cycle_A", "idt_A", "D_B", "G_B", "cycle_B", "idt_B"
truth, rates, images, every = [], [], 500, 100
log = open("log/horse2zebra/loss_log.txt", "a")
print("================ Training Loss (now) ================", file=log)
print("The number of training images = %d" % images)
print("create web directory log/horse2zebra/web...")
for epoch in range(1, 4):
    for iters in range(every, images + 1, every):
        step = (epoch - 1) * images + iters
        losses = [1 / (1 + step / 1000) + 0.1 * math.sin(step + i) for i in range(8)]
        message = "(epoch: %d, iters: %d, time: 0.321, data: 0.002) " % (epoch, iters)
        message += " ".join("%s: %.3f" % pair for pair in zip(names, losses))
        for file in None, log:
            print(message, file=file, flush=True)
        truth += [("epoch", step, epoch)] + [(name, step, loss) for name, loss in zip(names, losses)]
    print("End of epoch %d / 3 \t Time Taken: 12 sec" % epoch)
    print("learning rate 0.0002000 -> 0.0001980")
    rates.append(("learning rate", epoch * images, 0.0002))
json.dump({"console": truth + rates, "log/horse2zebra/loss_log.txt": truth}, open("truth.json", "w"))
